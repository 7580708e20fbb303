"""Writes tests/data/kjv_golden.json: what the numpy model of llama.py computes in float64 from configs/checkpoints/kjv-4m.

    python3 analysis/train/kjv_golden.py          (needs numpy)
"""

import json
import pathlib

import numpy as np

from llama import Model, Tokenizer

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "configs/checkpoints/kjv-4m"
PROMPT, WINDOWS, TOKENS = "And it came to pass in those days", 8, 128

model, tokenizer = Model(FOLDER / "kjv256_q80.bin"), Tokenizer(FOLDER / "kjv_tok1024.bin")
ids = tokenizer.encode(PROMPT)
greedy = model.greedy(ids, 40)
rows = np.frombuffer((FOLDER / "held_out_257_u16.bin").read_bytes(), "<u2").reshape(-1, 257).astype(int)
losses, hits = [], []
for row in rows[:WINDOWS]:
    logits = model.logits(row[:TOKENS])
    top = logits.max(-1)
    losses.append(top + np.log(np.exp(logits - top[:, None]).sum(-1)) - logits[np.arange(TOKENS), row[1:TOKENS + 1]])
    hits.append(logits.argmax(-1) == row[1:TOKENS + 1])
golden = {
    "made_by": "analysis/train/kjv_golden.py, numpy float64",
    "prompt": PROMPT,
    "prompt_ids": ids,
    "greedy_ids": greedy,
    "greedy_text": tokenizer.decode(greedy),
    "layer2_last_token": [round(v, 6) for v in model.forward(ids, 2)[-1]],
    "logits_last_token": [round(v, 6) for v in model.logits(ids)[-1]],
    "windows": WINDOWS,
    "tokens": TOKENS,
    "cross_entropy": float(np.mean(losses)),
    "top1": float(np.mean(hits)),
}
(ROOT / "tests/data/kjv_golden.json").write_text(json.dumps(golden, indent=1) + "\n")
