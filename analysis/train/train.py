"""Trains the language model on the King James Bible and writes it as a llama2.c checkpoint.

Everything that a run draws follows from its seed and the number of the step, so that a run that is
stopped and resumed gives the same weights, bit by bit, as one that was not (one thread, same machine).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported; one thread adds up in one order

import argparse
import csv
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

import checkpoint
import evaluate
import model
import optimizer
import text
import tokenizer
from attention import Array

LARGEST_GRADIENT = 1.0
COLUMNS = ["step", "tokens", "rate", "training_cross_entropy", "held_out_cross_entropy", "held_out_top1", "cpu_s"]


@dataclass(frozen=True)
class Settings:
    """What a run is; all of it is kept in its state and compared when it is resumed."""

    seed: int = 1
    batch: int = 4
    shape: model.Config = model.Config()
    schedule: optimizer.Schedule = optimizer.Schedule()

    def text(self) -> str:
        return str(asdict(self))


@dataclass
class Run:
    """State of a run after `step` updates."""

    parameters: model.Parameters
    optimizer: optimizer.AdamW
    step: int
    history: list[list[float]]  # rows of the log


@dataclass(frozen=True)
class Corpus:
    """Ids to train on and ids to be judged by."""

    training: Array
    held_out: Array


def begin(settings: Settings) -> Run:
    parameters = model.initial(settings.shape, np.random.default_rng(settings.seed))
    return Run(parameters, optimizer.fresh(parameters), 0, [])


def draw_batch(ids: Array, settings: Settings, step: int) -> tuple[Array, Array]:
    """Windows at random places of the text, and the same one token later."""
    length = settings.shape.context
    starts = np.random.default_rng([settings.seed, step]).integers(0, len(ids) - length, settings.batch)
    rows = ids[starts[:, None] + np.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


def advance(run: Run, ids: Array, settings: Settings) -> float:
    """One update; returns the cross entropy of its batch."""
    run.step += 1
    loss, gradients = model.loss_and_gradients(run.parameters, settings.shape, *draw_batch(ids, settings, run.step))
    optimizer.clip(gradients, LARGEST_GRADIENT)
    run.optimizer.update(run.parameters, gradients, settings.schedule.rate(run.step), run.step)
    return loss


def save_state(path: Path, run: Run, settings: Settings) -> None:
    """Replaces the file only when the new one is complete."""
    groups = {"p": run.parameters, "m": run.optimizer.mean, "v": run.optimizer.square}
    arrays = {f"{group}.{name}": array for group, named in groups.items() for name, array in named.items()}
    unfinished = path.with_suffix(".tmp.npz")
    np.savez(unfinished, step=run.step, history=run.history, settings=settings.text(), **arrays)
    unfinished.replace(path)


def load_state(path: Path, settings: Settings) -> Run:
    with np.load(path) as state:
        if str(state["settings"]) != settings.text():
            raise SystemExit(f"{path}: was begun with {state['settings']}; resume it with the same settings")
        names = model.shapes(settings.shape)
        parameters, mean, square = ({name: state[f"{group}.{name}"] for name in names} for group in "pmv")
        return Run(parameters, optimizer.AdamW(mean, square), int(state["step"]), state["history"].tolist())


def write_log(path: Path, history: list[list[float]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for step, tokens, *rest in history:
            writer.writerow([int(step), int(tokens)] + [f"{value:.6g}" for value in rest])


def keep(run: Run, settings: Settings, output: Path) -> None:
    """State to resume from, log, and the model in both formats."""
    save_state(output / "state.npz", run, settings)
    write_log(output / "log.csv", run.history)
    checkpoint.write_quantized(output / "model_q80.bin", settings.shape, run.parameters)
    checkpoint.write_floats(output / "model_f32.bin", settings.shape, run.parameters)


def row(run: Run, settings: Settings, losses: list[float], held_out: Array) -> list[float]:
    """A line of the log but for its time."""
    result = evaluate.score(run.parameters, settings.shape, held_out)
    tokens = run.step * settings.batch * settings.shape.context
    rate = settings.schedule.rate(run.step)
    return [run.step, tokens, rate, float(np.mean(losses)), result.cross_entropy, result.top1]


def train(run: Run, corpus: Corpus, settings: Settings, limits: argparse.Namespace) -> None:
    """Up to the last step of the schedule or the end of the time, with a checkpoint every `limits.every` steps."""
    earlier = run.history[-1][-1] if run.history else 0.0
    end = time.monotonic() + 60 * limits.minutes
    losses: list[float] = []
    last = run.step >= settings.schedule.steps
    while not last:
        losses.append(advance(run, corpus.training, settings))
        last = run.step >= settings.schedule.steps or time.monotonic() >= end
        if last or run.step % limits.every == 0:
            line = row(run, settings, losses, corpus.held_out)
            run.history.append(line + [earlier + time.process_time()])
            keep(run, settings, limits.output)
            print("  ".join(f"{name} {value:.5g}" for name, value in zip(COLUMNS, run.history[-1])), flush=True)
            losses = []


def parse(words: list[str] | None = None) -> tuple[Settings, argparse.Namespace]:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("output", type=Path, help="folder for tokenizer, checkpoints, log and state")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time; --resume goes on")
    parser.add_argument("--every", type=int, default=250, help="steps between checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on from the state in the folder")
    parser.add_argument("--seed", type=int, default=Settings.seed, help="of weights and batches")
    parser.add_argument("--batch", type=int, default=Settings.batch, help="windows in a step")
    for part in (optimizer.Schedule, model.Config):
        for field in fields(part):
            flag = "--" + field.name.replace("_", "-")
            parser.add_argument(flag, type=type(field.default), default=field.default, help=f"{part.__name__.lower()}")
    arguments = parser.parse_args(words)
    shape, schedule = (
        part(**{field.name: getattr(arguments, field.name) for field in fields(part)})
        for part in (model.Config, optimizer.Schedule)
    )
    return Settings(arguments.seed, arguments.batch, shape, schedule), arguments


def start(settings: Settings, state: Path, resume: bool) -> Run:
    """A new run, or the one that the folder holds; never the one over the other."""
    if resume != state.exists():
        problem = "is there; write --resume to go on, or another folder" if state.exists() else "is not there to resume"
        raise SystemExit(f"{state}: {problem}")
    return load_state(state, settings) if resume else begin(settings)


def main() -> None:
    settings, arguments = parse()
    run = start(settings, arguments.output / "state.npz", arguments.resume)
    arguments.output.mkdir(parents=True, exist_ok=True)
    kept, held_out = text.hold_out(text.read_chapters())
    pieces = tokenizer.train(kept, settings.shape.vocabulary)
    pieces.save(arguments.output / "tokenizer.bin")
    corpus = Corpus(evaluate.stream(kept, pieces), evaluate.stream(held_out, pieces))
    train(run, corpus, settings, arguments)


if __name__ == "__main__":
    main()
