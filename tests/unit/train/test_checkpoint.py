"""Files of llama2.c: round trip, quantisation error, and checkpoints that others wrote."""

import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

try:
    import numpy as np
except ModuleNotFoundError:
    raise unittest.SkipTest("python3-numpy is not installed") from None

import checkpoint
import evaluate
import model
import reference
import tokenizer

SHAPE = model.Config(dim=64, hidden=32, layers=2, heads=4, kv_heads=2, vocabulary=10, context=8)


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "model.bin"
        self.parameters = model.initial(SHAPE, np.random.default_rng(1))

    def test_version_0_keeps_every_bit(self) -> None:
        checkpoint.write_floats(self.path, SHAPE, self.parameters)
        config, parameters = checkpoint.read(self.path)
        self.assertEqual(config, SHAPE)
        for name, array in self.parameters.items():
            np.testing.assert_array_equal(parameters[name], array, name)

    def test_version_0_has_its_parts_in_the_order_of_the_format(self) -> None:
        names = "embedding rms_attention wq wk wv wo rms_ffn w1 w2 w3 rms_final".split()
        checkpoint.write_floats(self.path, SHAPE, self.parameters)
        parts = [self.parameters[name].reshape(-1) for name in names] + [np.zeros(8 * 16)]  # positions * head width
        np.testing.assert_array_equal(np.fromfile(self.path, "<f4", offset=28), np.concatenate(parts))

    def test_version_2_is_off_by_at_most_half_a_step(self) -> None:
        """Rounding of the quotient and of its product with the scale adds a few units in the last place."""
        checkpoint.write_quantized(self.path, SHAPE, self.parameters)
        config, parameters = checkpoint.read(self.path)
        self.assertEqual(config, SHAPE)
        for name in checkpoint.QUANTIZED:
            groups = self.parameters[name].reshape(-1, checkpoint.GROUP)
            error = np.abs(parameters[name].reshape(groups.shape) - groups).max(axis=1)
            largest = np.abs(groups).max(axis=1)
            self.assertTrue((error <= largest / 254 + 4e-7 * largest).all(), name)
            self.assertGreater(error.max(), 0, name)

    def test_version_2_has_its_parts_in_the_order_of_the_format(self) -> None:
        """Parts filled with 1, 2, 3... in the order of llama2.c: a matrix of k is int8 127 and scales k / 127."""
        names = "rms_attention rms_ffn rms_final embedding wq wk wv wo w1 w2 w3".split()
        shapes = model.shapes(SHAPE)
        filled = {name: np.full(shapes[name], 1.0 + i, np.float32) for i, name in enumerate(names)}
        checkpoint.write_quantized(self.path, SHAPE, filled)
        content, place = self.path.read_bytes(), 256
        for name in names:
            for array in filled[name] if name.startswith("w") else [filled[name]]:
                if not name.startswith("rms"):
                    self.assertEqual(content[place : place + array.size], bytes([127]) * array.size, name)
                    place, array = place + array.size, array.reshape(-1, 64)[:, 0] / 127
                np.testing.assert_allclose(np.frombuffer(content, "<f4", array.size, place), array.reshape(-1), 1e-6)
                place += 4 * array.size
        self.assertEqual(place, len(content))

    def test_a_group_of_zeros_stays_zero(self) -> None:
        values, scales = checkpoint.quantize(np.zeros((2, 64), np.float32), 64)
        self.assertFalse(values.any() or scales.any())

    def test_a_short_or_long_file_is_refused(self) -> None:
        checkpoint.write_quantized(self.path, SHAPE, self.parameters)
        content = self.path.read_bytes()
        for damaged, problem in ((content[:-1], "1 bytes early"), (content + b"x", "goes on")):
            self.path.write_bytes(damaged)
            with self.assertRaisesRegex(ValueError, problem):
                checkpoint.read(self.path)


class Score(unittest.TestCase):
    def test_every_id_but_the_first_is_predicted_once(self) -> None:
        for length in (3, 4, 5, 24, 25, 26):
            targets = [rows[:, 1:].reshape(-1) for rows in evaluate.windows(np.arange(26), length)]
            np.testing.assert_array_equal(np.concatenate(targets), np.arange(1, 26))

    def test_a_model_that_knows_nothing_scores_ln_of_the_vocabulary(self) -> None:
        config = replace(SHAPE, layers=1)
        parameters = {name: np.zeros(shape, np.float32) for name, shape in model.shapes(config).items()}
        ids = np.array([0, 3, 0, 4, 5, 0, 0, 1, 2, 0, 9])  # equal logits: the first id, 0, counts as the highest
        result = evaluate.score(parameters, config, ids)
        self.assertAlmostEqual(result.cross_entropy, np.log(config.vocabulary), delta=1e-6)
        self.assertEqual((result.top1, result.tokens), (4 / 10, 10))


@unittest.skipUnless(reference.present("stories260K.bin"), reference.MISSING)
class KarpathysModel(unittest.TestCase):
    """stories260K, which another implementation ran: its values are in golden.json, to five decimals."""

    def setUp(self) -> None:
        self.golden = json.loads(reference.path("golden.json").read_text())
        self.config, self.parameters = checkpoint.read(reference.path("stories260K.bin"))

    def test_logits_are_the_golden_ones(self) -> None:
        tokens = np.array([self.golden["window0_first8_ids"]])
        scores = model.logits(self.parameters, self.config, tokens)
        np.testing.assert_allclose(scores[7, :8], self.golden["window0_logits_token7_first8"], atol=1e-4)
        self.assertEqual(scores.argmax(axis=1).tolist(), self.golden["window0_first8_argmax"])

    def test_the_prompt_goes_on_as_published(self) -> None:
        pieces = tokenizer.load(reference.path("tok512.bin"))
        ids = pieces.encode(self.golden["prompt"])
        self.assertEqual(ids, self.golden["prompt_ids"])
        while len(ids) < len(self.golden["greedy_first_40"]):
            ids.append(int(model.logits(self.parameters, self.config, np.array([ids]))[-1].argmax()))
        self.assertEqual(ids, self.golden["greedy_first_40"])


if __name__ == "__main__":
    unittest.main()
