"""Causal attention with rotary positions, forward and backward.

Inside, arrays are [batch][kv head][group][length][head width]: the query heads of a group share
one key and value head, whose group axis has length 1 (grouped-query attention).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Array = np.ndarray

ROPE_BASE = 10000.0


@dataclass
class Cache:
    """Rotated queries (scaled by 1 / sqrt(head width)), rotated keys, values, softmax, output."""

    q: Array
    k: Array
    v: Array
    probabilities: Array
    mixed: Array

    def mixed_rows(self) -> Array:
        return to_rows(self.mixed)


@lru_cache
def rotation(length: int, width: int, kind: str) -> Array:
    """e^(i angle) [position][pair], angle = position * base^(-2 pair / width), as complex `kind`."""
    frequency = ROPE_BASE ** (-np.arange(0, width, 2) / width)
    return np.exp(1j * np.outer(np.arange(length), frequency)).astype(kind)


@lru_cache
def causal_mask(length: int, kind: str) -> Array:
    """0 where a position may look, -infinity where it is later."""
    return np.triu(np.full((length, length), -np.inf, dtype=kind), 1)


def rotate(x: Array, direction: int) -> Array:
    """Turns the pairs (x[2i], x[2i+1]) by the angle of their position, forwards (+1) or back (-1)."""
    pairs = np.ascontiguousarray(x).view(np.result_type(x.dtype, np.complex64))
    turn = rotation(x.shape[-2], x.shape[-1], pairs.dtype.name)
    return (pairs * (turn if direction > 0 else turn.conj())).view(x.dtype)


def to_heads(rows: Array, kv_heads: int, group: int, length: int) -> Array:
    """[batch * length][width] -> [batch][kv head][group][length][head width]."""
    split = rows.reshape(-1, length, kv_heads, group, rows.shape[1] // (kv_heads * group))
    return np.ascontiguousarray(split.transpose(0, 2, 3, 1, 4))


def to_rows(heads: Array) -> Array:
    """Inverse of to_heads()."""
    batch, kv_heads, group, length, width = heads.shape
    return heads.transpose(0, 3, 1, 2, 4).reshape(batch * length, kv_heads * group * width)


def softmax(scores: Array) -> Array:
    """Over the last axis, in place."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def forward(qkv: tuple[Array, Array, Array], heads: int, kv_heads: int, length: int) -> tuple[Array, Cache]:
    """softmax(q k^T / sqrt(width) + mask) v of projected rows; returns rows, not yet through wo."""
    group = heads // kv_heads
    q = rotate(to_heads(qkv[0], kv_heads, group, length), +1)
    k = rotate(to_heads(qkv[1], kv_heads, 1, length), +1)
    v = to_heads(qkv[2], kv_heads, 1, length)
    q *= q.shape[-1] ** -0.5
    scores = q @ k.swapaxes(-1, -2)
    scores += causal_mask(length, scores.dtype.name)
    probabilities = softmax(scores)
    mixed = probabilities @ v
    return to_rows(mixed), Cache(q, k, v, probabilities, mixed)


def backward(drows: Array, c: Cache) -> tuple[Array, Array, Array]:
    """Gradients at the rows of the three projections.

    With P = softmax(S) and O = P V:  dV = P^T dO,  dP = dO V^T,
    dS = P (dP - sum over keys of P dP), and that sum is sum over the width of O dO.
    """
    _, kv_heads, group, length, width = c.q.shape
    dmixed = to_heads(drows, kv_heads, group, length)
    dv = c.probabilities.swapaxes(-1, -2) @ dmixed
    dscores = dmixed @ c.v.swapaxes(-1, -2)
    dscores -= np.einsum("...w,...w->...", dmixed, c.mixed)[..., None]
    dscores *= c.probabilities
    dq = rotate(dscores @ c.k, -1)
    dq *= width**-0.5
    dk = rotate((dscores.swapaxes(-1, -2) @ c.q).sum(axis=2, keepdims=True), -1)
    return to_rows(dq), to_rows(dk), to_rows(dv.sum(axis=2, keepdims=True))
