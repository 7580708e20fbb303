"""Writes the held-out token windows of configs/checkpoints/kjv-4m: `bible -f 'Gen1:1-Rev22:21'` (Debian's bible-kjv),
without the verse labels; verses of a chapter joined by spaces; chapters 7, 27, 47 .. (counted from 0), which the
training left out. A row is BOS and 256 consecutive ids of a chapter, uint16 little endian: first the beginning of each
chapter that is long enough, then the second 256 ids, and so on, so that the first rows are of different chapters.

    python3 analysis/train/kjv_held_out.py          (needs numpy and bible-kjv)
"""

import pathlib
import subprocess

import numpy as np

from llama import Tokenizer

FOLDER = pathlib.Path(__file__).parents[2] / "configs/checkpoints/kjv-4m"
WINDOW, ROWS = 256, 192

tokenizer = Tokenizer(FOLDER / "kjv_tok1024.bin")
text = subprocess.run(["bible", "-f", "Gen1:1-Rev22:21"], capture_output=True, text=True, check=True).stdout
chapters = {}
for line in text.splitlines():
    label, verse = line.split(" ", 1)
    chapters.setdefault(label.split(":")[0], []).append(verse)
held_out = list(chapters.values())[7::20]
# No piece reaches over a space, so verses can be encoded one by one.
ids = [[i for verse in chapter for i in tokenizer.encode(verse)[1:]] for chapter in held_out]
rows = []
for first in range(0, max(map(len, ids)), WINDOW):
    rows += [[1, *chapter[first:first + WINDOW]] for chapter in ids if len(chapter) >= first + WINDOW]
print(len(chapters), "chapters,", len(held_out), "held out,", len(rows), "windows,", min(ROWS, len(rows)), "written")
(FOLDER / "held_out_257_u16.bin").write_bytes(np.array(rows[:ROWS], "<u2").tobytes())
