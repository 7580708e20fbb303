"""Cross entropy and top-1 accuracy of a checkpoint on the chapters that training never saw."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported; one thread adds up in one order

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

import checkpoint
import model
import text
import tokenizer
from attention import Array

WINDOWS_AT_ONCE = 8


class Score(NamedTuple):
    """Means over all predicted tokens."""

    cross_entropy: float  # nats per token
    top1: float  # fraction of tokens that had the highest score
    tokens: int


def stream(chapters: list[str], pieces: tokenizer.Tokenizer) -> Array:
    """Ids of all chapters in a row; BOS begins each."""
    return np.array([i for chapter in chapters for i in pieces.encode(chapter)], dtype=np.int32)


def windows(ids: Array, length: int) -> list[Array]:
    """Batches of windows of length + 1, so that every id but the first is predicted once; the last is shorter."""
    whole = (len(ids) - 1) // length
    starts = length * np.arange(whole)
    rows = ids[starts[:, None] + np.arange(length + 1)]
    batches = [rows[i : i + WINDOWS_AT_ONCE] for i in range(0, whole, WINDOWS_AT_ONCE)]
    rest = ids[whole * length :]
    return batches + ([rest[None]] if len(rest) > 1 else [])


def score(parameters: model.Parameters, config: model.Config, ids: Array) -> Score:
    """Each window of the context starts anew: its first tokens are predicted from few."""
    loss, right = 0.0, 0
    for rows in windows(ids, config.context):
        scores = model.logits(parameters, config, rows[:, :-1])
        targets = rows[:, 1:].reshape(-1)
        loss += float(model.cross_entropy(scores, targets)[0].sum(dtype=np.float64))
        right += int((scores.argmax(axis=1) == targets).sum())
    tokens = len(ids) - 1
    return Score(loss / tokens, right / tokens, tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints cross entropy and top-1 accuracy on the held-out chapters.")
    parser.add_argument("model", type=Path, help="llama2.c checkpoint, version 0 or 2")
    parser.add_argument("tokenizer", type=Path, help="its tokenizer.bin")
    arguments = parser.parse_args()
    config, parameters = checkpoint.read(arguments.model)
    _, held_out = text.hold_out(text.read_chapters())
    ids = stream(held_out, tokenizer.load(arguments.tokenizer))
    result = score(parameters, config, ids)
    per_character = result.cross_entropy * result.tokens / sum(map(len, held_out))
    print(f"{result.tokens} tokens of {len(held_out)} chapters: top-1 {100 * result.top1:.1f} %")
    print(f"cross entropy {result.cross_entropy:.4f} nats/token, {per_character:.4f} nats/character")


if __name__ == "__main__":
    main()
