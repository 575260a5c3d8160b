"""The examples for stored text that need no cluster. `scripts/test-python --long` runs the one for Ray."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from libaside import split

EXAMPLES = str(Path(__file__).parents[1] / "examples")


def test_polars() -> None:
    sys.path.insert(0, EXAMPLES)
    try:
        import polars_split
        import transcripts
    finally:
        sys.path.remove(EXAMPLES)
    frame = polars_split.run(50)
    columns = transcripts.transcripts(50)
    assert frame["thinking"].to_list() == [split(text, "qwen3").thinking for text in columns["answer"]]
    assert frame["content"].to_list() == [split(text, "qwen3").content for text in columns["answer"]]
    assert all(len(result) <= 1024 and "error: unknown type" in result for result in frame["result"])


def test_the_program_of_the_manual() -> None:
    page = (Path(__file__).parents[3] / "docs" / "start.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output == "thinking: Twice 21.\ncontent: It is 42.\n"


def test_the_programs_for_users() -> None:
    page = (Path(__file__).parents[3] / "docs" / "users.md").read_text()
    programs = page.split("```python\n")[1:]
    assert len(programs) == 2
    for program in programs:
        code, text = program.split("```", 1)
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert text.startswith(f"\n\nprints `{output.rstrip()}`"), output
