"""Runs llama.cpp's server with a model: serve.py MODEL PORT [--skip-chat-parsing]. Its program llama-server takes the same options:
--reasoning-format none leaves thinking in the text, and --skip-chat-parsing calls as well."""

import sys
import time

import xllamacpp

model, port = sys.argv[1:3]
params = xllamacpp.CommonParams()
params.model.path = model
params.port = int(port)
params.n_ctx = 4096
params.n_parallel = 2
params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
params.force_pure_content_parser = "--skip-chat-parsing" in sys.argv
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
