"""AdamW with warm-up, cosine schedule and gradient clipping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model import Parameters

EPSILON = 1e-8


@dataclass(frozen=True)
class Schedule:
    """Learning rate: linear from 0 over `warm_up` steps, then half a cosine from `peak` to `peak / 10` at `steps`."""

    peak: float = 1.5e-3
    warm_up: int = 200
    steps: int = 7000

    def rate(self, step: int) -> float:
        """Of update `step`, counted from 1."""
        if step <= self.warm_up:
            return self.peak * step / self.warm_up
        done = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.peak * (0.1 + 0.45 * (1 + float(np.cos(np.pi * done))))


def clip(gradients: Parameters, largest: float) -> float:
    """Scales all gradients so that their common norm is at most `largest`; returns the norm before."""
    norm = float(np.sqrt(sum(float(np.vdot(g, g)) for g in gradients.values())))
    if norm > largest:
        for gradient in gradients.values():
            gradient *= largest / norm
    return norm


@dataclass
class AdamW:
    """Loshchilov and Hutter, ICLR 2019: m, v are running means of g, g^2 and
    w -= rate (m' / (sqrt(v') + epsilon) + decay w), m' = m / (1 - beta1^t), v' = v / (1 - beta2^t).
    Norms do not decay."""

    mean: Parameters
    square: Parameters
    beta1: float = 0.9
    beta2: float = 0.99
    decay: float = 0.1

    def update(self, parameters: Parameters, gradients: Parameters, rate: float, step: int) -> None:
        """Changes the parameters in place; `step` counts from 1."""
        for name, gradient in gradients.items():
            m, v = self.mean[name], self.square[name]
            m += (1 - self.beta1) * (gradient - m)
            v += (1 - self.beta2) * (gradient * gradient - v)
            change = m / (1 - self.beta1**step)
            change /= np.sqrt(v / (1 - self.beta2**step)) + EPSILON
            if not name.startswith("rms"):
                change += self.decay * parameters[name]
            parameters[name] -= rate * change


def fresh(parameters: Parameters) -> AdamW:
    """Before the first step."""
    return AdamW(*({name: np.zeros_like(array) for name, array in parameters.items()} for _ in range(2)))
