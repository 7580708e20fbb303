"""Decoder of the Llama family in numpy: forward pass, and the backward pass written out by hand.

Parameters are a dictionary of arrays, matrices as [out][in] (y = W x), layers stacked in front.
All functions keep the type of the parameters: float32 for training, float64 for the gradient check.
Rows are tokens: activations are [batch * length][width], except inside the attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import attention
from attention import Array

EPSILON = 1e-5  # of the RMS norm, as in llama2.c

Parameters = dict[str, Array]


@dataclass(frozen=True)
class Config:
    """Shape of the model; the defaults are those of kjv256_q80.bin."""

    dim: int = 256
    hidden: int = 512
    layers: int = 6
    heads: int = 4
    kv_heads: int = 4
    vocabulary: int = 1024
    context: int = 256

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads or self.dim % (2 * self.heads):
            raise ValueError(f"{self}: kv_heads has to divide heads, and 2 heads has to divide dim (rotated pairs)")

    @property
    def kv_dim(self) -> int:
        return self.dim // self.heads * self.kv_heads


def shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Shape of every parameter. The embedding is the output matrix too."""
    layers, dim, hidden = config.layers, config.dim, config.hidden
    return {
        "embedding": (config.vocabulary, dim),
        "rms_attention": (layers, dim),
        "wq": (layers, dim, dim),
        "wk": (layers, config.kv_dim, dim),
        "wv": (layers, config.kv_dim, dim),
        "wo": (layers, dim, dim),
        "rms_ffn": (layers, dim),
        "w1": (layers, hidden, dim),
        "w2": (layers, dim, hidden),
        "w3": (layers, hidden, dim),
        "rms_final": (dim,),
    }


def initial(config: Config, rng: np.random.Generator) -> Parameters:
    """Norms 1, matrices normal with deviation 0.02; those that write to the residual stream
    0.02 / sqrt(2 layers), so that its variance does not grow with depth (GPT-2)."""
    parameters: Parameters = {}
    for name, shape in shapes(config).items():
        deviation = 0.02 / np.sqrt(2 * config.layers) if name in ("wo", "w2") else 0.02
        draw = np.ones(shape) if name.startswith("rms") else rng.normal(0, deviation, shape)
        parameters[name] = draw.astype(np.float32)
    return parameters


def layer_of(parameters: Parameters, layer: int) -> Parameters:
    """Views of the arrays of one layer."""
    return {name: array[layer] for name, array in parameters.items() if name not in ("embedding", "rms_final")}


def rms_norm(x: Array, weight: Array) -> tuple[Array, Array]:
    """y = weight x / r, r = sqrt(mean(x^2) + epsilon); returns y and 1/r."""
    inverse = 1 / np.sqrt(np.einsum("nd,nd->n", x, x)[:, None] / x.shape[1] + EPSILON)
    return x * inverse * weight, inverse


def rms_norm_backward(dy: Array, x: Array, inverse: Array, weight: Array) -> tuple[Array, Array]:
    """Gradients (dx, dweight). With u = x / r and g = weight dy: dx = (g - u mean(g u)) / r."""
    unit = x * inverse
    dweight = np.einsum("nd,nd->d", dy, unit)
    dunit = dy * weight
    mean = np.einsum("nd,nd->n", dunit, unit)[:, None] / x.shape[1]
    return inverse * (dunit - unit * mean), dweight


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), by tanh, which cannot overflow."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


@dataclass
class BlockCache:
    """What the backward pass of a block needs from its forward pass."""

    x: Array
    inverse: Array
    normed: Array
    attention: attention.Cache
    middle: Array
    middle_inverse: Array
    middle_normed: Array
    gate: Array
    up: Array


def block(x: Array, w: Parameters, config: Config, length: int) -> tuple[Array, BlockCache]:
    """x + wo attention(...), then + w2 (silu(w1 n) * (w3 n)) of the normed sum."""
    normed, inverse = rms_norm(x, w["rms_attention"])
    qkv = (normed @ w["wq"].T, normed @ w["wk"].T, normed @ w["wv"].T)
    mixed, kept = attention.forward(qkv, config.heads, config.kv_heads, length)
    middle = x + mixed @ w["wo"].T
    middle_normed, middle_inverse = rms_norm(middle, w["rms_ffn"])
    gate = middle_normed @ w["w1"].T
    up = middle_normed @ w["w3"].T
    y = middle + (gate * sigmoid(gate) * up) @ w["w2"].T
    return y, BlockCache(x, inverse, normed, kept, middle, middle_inverse, middle_normed, gate, up)


def feed_forward_backward(dy: Array, c: BlockCache, w: Parameters, g: Parameters) -> Array:
    """Gradient at the sum after attention. silu'(z) = s + silu(z) (1 - s), s = sigmoid(z)."""
    s = sigmoid(c.gate)
    silu = c.gate * s
    dproduct = dy @ w["w2"]
    dup = dproduct * silu
    dgate = dproduct * c.up * (s + silu * (1 - s))
    g["w2"][...] = dy.T @ (silu * c.up)
    g["w1"][...] = dgate.T @ c.middle_normed
    g["w3"][...] = dup.T @ c.middle_normed
    dnormed = dgate @ w["w1"] + dup @ w["w3"]
    dmiddle, g["rms_ffn"][...] = rms_norm_backward(dnormed, c.middle, c.middle_inverse, w["rms_ffn"])
    return dy + dmiddle


def attention_backward(dmiddle: Array, c: BlockCache, w: Parameters, g: Parameters) -> Array:
    """Gradient at the input of the block."""
    g["wo"][...] = dmiddle.T @ c.attention.mixed_rows()
    dqkv = attention.backward(dmiddle @ w["wo"], c.attention)
    dnormed = np.zeros_like(c.x)
    for name, dprojection in zip(("wq", "wk", "wv"), dqkv):
        g[name][...] = dprojection.T @ c.normed
        dnormed += dprojection @ w[name]
    dx, g["rms_attention"][...] = rms_norm_backward(dnormed, c.x, c.inverse, w["rms_attention"])
    return dmiddle + dx


def hidden_states(parameters: Parameters, config: Config, tokens: Array) -> tuple[Array, list[BlockCache]]:
    """Residual stream after the last block for token ids [batch][length]."""
    x = parameters["embedding"][tokens.reshape(-1)]
    caches = []
    for layer in range(config.layers):
        x, cache = block(x, layer_of(parameters, layer), config, tokens.shape[1])
        caches.append(cache)
    return x, caches


def logits(parameters: Parameters, config: Config, tokens: Array) -> Array:
    """Scores of the next token, [batch * length][vocabulary]."""
    x, _ = hidden_states(parameters, config, tokens)
    return rms_norm(x, parameters["rms_final"])[0] @ parameters["embedding"].T


def cross_entropy(scores: Array, targets: Array) -> tuple[Array, Array]:
    """-log softmax(scores)[target] of every row in nats, and the softmax."""
    scores = scores - scores.max(axis=1, keepdims=True)
    probabilities = np.exp(scores)
    total = probabilities.sum(axis=1, keepdims=True)
    losses = np.log(total[:, 0]) - scores[np.arange(len(targets)), targets]
    probabilities /= total
    return losses, probabilities


def loss_and_gradients(
    parameters: Parameters, config: Config, tokens: Array, targets: Array
) -> tuple[float, Parameters]:
    """Mean cross entropy of `targets` after `tokens` (both [batch][length]), and its gradients."""
    p, g = parameters, {name: np.empty_like(array) for name, array in parameters.items()}
    targets = targets.reshape(-1)
    x, caches = hidden_states(p, config, tokens)
    normed, inverse = rms_norm(x, p["rms_final"])
    losses, dscores = cross_entropy(normed @ p["embedding"].T, targets)
    dscores[np.arange(len(targets)), targets] -= 1
    dscores /= len(targets)
    g["embedding"][...] = dscores.T @ normed
    dx, g["rms_final"][...] = rms_norm_backward(dscores @ p["embedding"], x, inverse, p["rms_final"])
    for layer in reversed(range(config.layers)):
        w, dw, cache = layer_of(p, layer), layer_of(g, layer), caches.pop()
        dx = attention_backward(feed_forward_backward(dx, cache, w, dw), cache, w, dw)
    np.add.at(g["embedding"], tokens.reshape(-1), dx)
    return float(losses.mean()), g
