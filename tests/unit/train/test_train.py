"""Optimiser against its equations, and a run that is stopped and resumed."""

import argparse
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
except ModuleNotFoundError:
    raise unittest.SkipTest("python3-numpy is not installed") from None

import model
import optimizer
import train

SHAPE = model.Config(dim=64, hidden=64, layers=1, heads=2, kv_heads=2, vocabulary=16, context=8)
SETTINGS = train.Settings(seed=3, batch=4, shape=SHAPE, schedule=optimizer.Schedule(3e-2, 4, 40))


class Schedule(unittest.TestCase):
    def test_rises_then_falls_to_a_tenth(self) -> None:
        schedule = optimizer.Schedule(peak=1.0, warm_up=10, steps=110)
        for step, expected in ((1, 0.1), (10, 1.0), (60, 0.55), (110, 0.1)):
            self.assertAlmostEqual(schedule.rate(step), expected, places=12)


class Optimizer(unittest.TestCase):
    def test_two_steps_by_hand(self) -> None:
        """g = 2, then -1, beta1 = 1/2, beta2 = 3/4, no decay. m = v = 1, m' = 2, v' = 4: w = 1 - 0.1 * 2 / 2.
        Then m = 1/2 - 1/2 = 0 and w stays; v = 3/4 + 1/4."""
        parameters = {"wq": np.array([1.0])}
        adam = optimizer.AdamW({"wq": np.zeros(1)}, {"wq": np.zeros(1)}, beta1=0.5, beta2=0.75, decay=0.0)
        adam.update(parameters, {"wq": np.array([2.0])}, 0.1, 1)
        np.testing.assert_allclose(parameters["wq"], [0.9], rtol=1e-8)
        adam.update(parameters, {"wq": np.array([-1.0])}, 0.1, 2)
        np.testing.assert_allclose(parameters["wq"], [0.9], rtol=1e-8)
        np.testing.assert_allclose(adam.square["wq"], [1.0])

    def test_norms_do_not_decay(self) -> None:
        parameters = {name: np.array([2.0]) for name in ("wq", "rms_final")}
        adam = optimizer.fresh(parameters)
        adam.update(parameters, {name: np.zeros(1) for name in parameters}, 0.5, 1)
        np.testing.assert_allclose([parameters["wq"][0], parameters["rms_final"][0]], [2 - 0.5 * 0.1 * 2, 2])

    def test_clipping_keeps_the_direction(self) -> None:
        gradients = {"a": np.array([3.0]), "b": np.array([[4.0]])}
        self.assertEqual(optimizer.clip(gradients, 5.0), 5.0)
        self.assertEqual(gradients["a"][0], 3.0)
        self.assertEqual(optimizer.clip(gradients, 1.0), 5.0)
        np.testing.assert_allclose([gradients["a"][0], gradients["b"][0, 0]], [0.6, 0.8])


class Run(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        ids = np.tile(np.arange(SHAPE.vocabulary), 20)  # the next id follows from the last one
        self.corpus = train.Corpus(ids, ids)

    def go(self, run: train.Run, name: str, minutes: float) -> train.Run:
        output = self.folder / name
        output.mkdir(exist_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):
            train.train(run, self.corpus, SETTINGS, argparse.Namespace(minutes=minutes, every=20, output=output))
        return run

    def test_learns_what_can_be_learned(self) -> None:
        run = self.go(train.begin(SETTINGS), "learn", float("inf"))
        self.assertEqual([line[0] for line in run.history], [20, 40])
        self.assertLess(run.history[-1][4], 0.5 * np.log(SHAPE.vocabulary))

    def test_a_resumed_run_gives_the_same_bits(self) -> None:
        whole = self.go(train.begin(SETTINGS), "whole", float("inf"))
        stopped = self.go(train.begin(SETTINGS), "parts", 1e-9)
        self.assertEqual(stopped.step, 1)
        resumed = self.go(train.load_state(self.folder / "parts/state.npz", SETTINGS), "parts", float("inf"))
        for name, array in whole.parameters.items():
            np.testing.assert_array_equal(array, resumed.parameters[name], name)
        for file in ("model_q80.bin", "model_f32.bin"):
            self.assertEqual((self.folder / "whole" / file).read_bytes(), (self.folder / "parts" / file).read_bytes())

    def test_a_run_is_neither_overwritten_nor_made_up(self) -> None:
        self.go(train.begin(SETTINGS), "one", 1e-9)
        with self.assertRaisesRegex(SystemExit, "write --resume"):
            train.start(SETTINGS, self.folder / "one/state.npz", resume=False)
        with self.assertRaisesRegex(SystemExit, "not there to resume"):
            train.start(SETTINGS, self.folder / "two/state.npz", resume=True)

    def test_other_settings_do_not_resume(self) -> None:
        self.go(train.begin(SETTINGS), "one", 1e-9)
        with self.assertRaisesRegex(SystemExit, "same settings"):
            train.load_state(self.folder / "one/state.npz", train.Settings())


if __name__ == "__main__":
    unittest.main()
