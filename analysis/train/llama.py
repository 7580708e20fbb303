"""A llama2.c "version 2" (Q8_0) checkpoint and its tokenizer in numpy float64: a second implementation, written from
the published equations, that the C++ of models/llm is tested against. Reads the files by itself and shares no code.
"""

import struct

import numpy as np


class Model:
    def __init__(self, path):
        raw = open(path, "rb").read()
        magic, version, *sizes = struct.unpack_from("<Ii7i", raw)
        tied, self.group = struct.unpack_from("<Bi", raw, 36)
        assert (magic, version, tied) == (0x616B3432, 2, 1), path
        self.dim, hidden, self.layers, self.heads, self.kv_heads, self.vocabulary, self.context = sizes
        self.head_size = self.dim // self.heads
        self.raw, self.at = raw, 256
        self.rms_att = self.floats(self.layers, self.dim)
        self.rms_ffn = self.floats(self.layers, self.dim)
        self.rms_final = self.floats(self.dim)
        kv = self.kv_heads * self.head_size
        self.embedding = self.quantised(self.vocabulary, self.dim)
        shapes = {"wq": (self.dim, self.dim), "wk": (kv, self.dim), "wv": (kv, self.dim), "wo": (self.dim, self.dim),
                  "w1": (hidden, self.dim), "w2": (self.dim, hidden), "w3": (hidden, self.dim)}
        self.w = {name: [self.quantised(*shape) for _ in range(self.layers)] for name, shape in shapes.items()}
        assert self.at == len(raw), path

    def floats(self, *shape):
        values = np.frombuffer(self.raw, "<f4", int(np.prod(shape)), self.at).reshape(shape)
        self.at += values.nbytes
        return values.astype(np.float64)

    def quantised(self, rows, columns):
        values = np.frombuffer(self.raw, "i1", rows * columns, self.at).astype(np.float64)
        self.at += rows * columns
        scales = self.floats(rows * columns // self.group)
        return (values.reshape(-1, self.group) * scales[:, None]).reshape(rows, columns)

    def embed(self, ids):
        return self.embedding[np.asarray(ids)]

    def block(self, x, layer):
        """One block over all positions of one sequence, without a cache."""
        n = rms_norm(x, self.rms_att[layer])
        q, k, v = (self.split(n @ self.w[name][layer].T) for name in ("wq", "wk", "wv"))
        q, k = rope(q), rope(k)
        share = self.heads // self.kv_heads
        k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.head_size)
        scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (scores / scores.sum(-1, keepdims=True)) @ v
        x = x + attended.transpose(1, 0, 2).reshape(x.shape[0], -1) @ self.w["wo"][layer].T
        n = rms_norm(x, self.rms_ffn[layer])
        gate = n @ self.w["w1"][layer].T
        return x + (gate / (1 + np.exp(-gate)) * (n @ self.w["w3"][layer].T)) @ self.w["w2"][layer].T

    def split(self, rows):
        return rows.reshape(rows.shape[0], -1, self.head_size).transpose(1, 0, 2)

    def forward(self, ids, layers=None):
        x = self.embed(ids)
        for layer in range(self.layers if layers is None else layers):
            x = self.block(x, layer)
        return x

    def logits(self, ids):
        return rms_norm(self.forward(ids), self.rms_final) @ self.embedding.T

    def greedy(self, ids, count):
        ids = list(ids)
        for _ in range(count):
            ids.append(int(self.logits(ids)[-1].argmax()))
        return ids


def rms_norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight


def rope(heads):
    """Rotates the pairs (2i, 2i + 1) of every head by position x 10000^(-2i / head size)."""
    _, positions, size = heads.shape
    angle = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)
    even, odd = heads[..., 0::2], heads[..., 1::2]
    turned = np.empty_like(heads)
    turned[..., 0::2] = even * np.cos(angle) - odd * np.sin(angle)
    turned[..., 1::2] = even * np.sin(angle) + odd * np.cos(angle)
    return turned


class Tokenizer:
    def __init__(self, path):
        raw = open(path, "rb").read()
        self.pieces, self.scores, at = [], [], 4
        while at < len(raw):
            score, length = struct.unpack_from("<fi", raw, at)
            self.pieces.append(raw[at + 8:at + 8 + length])
            self.scores.append(score)
            at += 8 + length
        self.ids = {}
        for i, piece in enumerate(self.pieces):
            self.ids.setdefault(piece, i)

    def encode(self, text):
        ids = [1]
        for character in " " + text:
            piece = character.encode()
            ids += [self.ids[piece]] if piece in self.ids else [byte + 3 for byte in piece]
        while True:
            best, where = -1e10, None
            for i in range(len(ids) - 1):
                merged = self.ids.get(self.pieces[ids[i]] + self.pieces[ids[i + 1]])
                if merged is not None and self.scores[merged] > best:
                    best, where = self.scores[merged], (i, merged)
            if where is None:
                return ids
            ids[where[0]:where[0] + 2] = [where[1]]

    def decode(self, ids):
        """Text of ids that begin with BOS, without BOS and the space behind it."""
        pieces = [bytes([i - 3]) if 3 <= i < 259 else self.pieces[i] for i in ids[1:]]
        return b"".join(pieces).decode(errors="replace").removeprefix(" ")
