"""Makes a model for llama.cpp that always writes the same text: model.py FILE TEMPLATE TEXT.

The weights contain the text, which is cut into tokens that all differ. The embedding of a token is a unit vector, and the output
matrix maps each token to the next one. Attention and the feed-forward layer add nothing. The newline at the end of a prompt is
mapped to the first token. So a real server samples, detokenizes and streams a text that is known in advance."""

import sys

import gguf
import numpy as np

HEADS, HEAD = 4, 128
WIDTH = HEADS * HEAD


def tokens(text):
    """Cuts a text into pieces of two or more characters that all differ."""
    pieces, at = [], 0
    while at < len(text):
        end = at + 2
        while text[at:end] in pieces and end < len(text):
            end += 1
        if len(text) - end == 1:
            end += 1
        assert text[at:end] not in pieces, "the end of the text repeats a piece"
        pieces.append(text[at:end])
        at = end
    return pieces


def main(path, template, text):
    control = ["<unk>", "<s>", "<|im_end|>"]
    single = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = [piece.replace(" ", "▁") for piece in tokens(text)]
    vocabulary = control + single + pieces
    assert len(vocabulary) <= WIDTH, f"{len(vocabulary)} tokens"
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(pieces)

    writer = gguf.GGUFWriter(path, "llama")
    with open(template, encoding="utf-8") as file:
        writer.add_chat_template(file.read())
    writer.add_name("one answer")
    writer.add_block_count(1)
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(32)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(vocabulary)
    writer.add_token_types(kinds)
    writer.add_token_scores([-float(number) for number in range(len(vocabulary))])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)

    count = len(vocabulary)
    first = len(control) + len(single)
    embedding = np.zeros((count, WIDTH), np.float32)
    embedding[np.arange(count), np.arange(count)] = 1
    output = np.zeros((count, WIDTH), np.float32)
    newline = vocabulary.index("<0x0A>")
    way = [newline, *range(first, count), 2]
    for token, following in zip(way, way[1:]):
        output[following, token] = 10
    zero = np.zeros((WIDTH, WIDTH), np.float32)
    one = np.ones(WIDTH, np.float32)
    for name, tensor in [
        ("token_embd", embedding),
        ("output_norm", one),
        ("output", output),
        ("blk.0.attn_norm", one),
        ("blk.0.attn_q", zero),
        ("blk.0.attn_k", zero),
        ("blk.0.attn_v", zero),
        ("blk.0.attn_output", zero),
        ("blk.0.ffn_norm", one),
        ("blk.0.ffn_gate", np.zeros((32, WIDTH), np.float32)),
        ("blk.0.ffn_up", np.zeros((32, WIDTH), np.float32)),
        ("blk.0.ffn_down", np.zeros((WIDTH, 32), np.float32)),
    ]:
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(*sys.argv[1:])
