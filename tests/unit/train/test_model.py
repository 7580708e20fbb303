"""The backward pass against central differences of the loss, and properties of the forward pass."""

import unittest

try:
    import numpy as np
except ModuleNotFoundError:
    raise unittest.SkipTest("python3-numpy is not installed") from None

import attention
import model

SMALL = model.Config(dim=16, hidden=12, layers=2, heads=4, kv_heads=2, vocabulary=11, context=6)
STEP = 1e-5


def double_parameters(seed: int) -> model.Parameters:
    """Wide draws, so that no gradient is small by chance, and norms that are not 1."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.3, 0.4, shape) for name, shape in model.shapes(SMALL).items()}


def token_ids(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, SMALL.vocabulary, (3, SMALL.context + 1))


class Gradient(unittest.TestCase):
    def loss(self, parameters: model.Parameters) -> float:
        losses, _ = model.cross_entropy(
            model.logits(parameters, SMALL, self.ids[:, :-1]), self.ids[:, 1:].reshape(-1)
        )
        return float(losses.mean())

    def test_every_component_equals_the_central_difference(self) -> None:
        """(L(w + h) - L(w - h)) / 2h has an error of order h^2 = 1e-10 and rounding 1e-16 / h = 1e-11."""
        self.ids = token_ids(1)
        parameters = double_parameters(2)
        _, gradients = model.loss_and_gradients(parameters, SMALL, self.ids[:, :-1], self.ids[:, 1:])
        for name, array in parameters.items():
            numerical = np.empty_like(array)
            for place in np.ndindex(array.shape):
                kept = array[place]
                array[place] = kept + STEP
                above = self.loss(parameters)
                array[place] = kept - STEP
                numerical[place] = (above - self.loss(parameters)) / (2 * STEP)
                array[place] = kept
            self.assertGreater(np.abs(numerical).max(), 1e-3, name)
            np.testing.assert_allclose(gradients[name], numerical, rtol=1e-6, atol=1e-8, err_msg=name)

    def test_the_loss_is_that_of_the_forward_pass(self) -> None:
        self.ids = token_ids(3)
        parameters = double_parameters(4)
        loss, _ = model.loss_and_gradients(parameters, SMALL, self.ids[:, :-1], self.ids[:, 1:])
        self.assertEqual(loss, self.loss(parameters))


class Shape(unittest.TestCase):
    def test_heads_have_to_fit(self) -> None:
        for wrong in ({"dim": 12, "heads": 4}, {"heads": 4, "kv_heads": 3}):
            with self.assertRaisesRegex(ValueError, "has to divide"):
                model.Config(**wrong)


class Forward(unittest.TestCase):
    def test_a_later_token_changes_nothing_before_it(self) -> None:
        parameters = double_parameters(5)
        tokens = token_ids(6)[:1, :-1]
        changed = tokens.copy()
        changed[0, 3] = (changed[0, 3] + 1) % SMALL.vocabulary
        before, after = (model.logits(parameters, SMALL, ids) for ids in (tokens, changed))
        np.testing.assert_array_equal(before[:3], after[:3])
        self.assertGreater(np.abs(before[3:] - after[3:]).min(axis=0).max(), 0)

    def test_pairs_turn_with_position(self) -> None:
        """Pair i of a head turns by position * 10000^(-2i / width): at position 3 of width 4 by 3 and by 0.03."""
        turned = attention.rotate(np.tile([1.0, 0.0], (4, 2)), +1)
        np.testing.assert_allclose(turned[0], [1, 0, 1, 0], atol=1e-15)
        np.testing.assert_allclose(turned[3], [np.cos(3), np.sin(3), np.cos(0.03), np.sin(0.03)], rtol=1e-12)

    def test_sequences_of_a_batch_are_independent(self) -> None:
        parameters = double_parameters(7)
        tokens = token_ids(8)[:, :-1]
        together = model.logits(parameters, SMALL, tokens).reshape(3, SMALL.context, -1)
        for row in range(3):
            alone = model.logits(parameters, SMALL, tokens[row : row + 1])
            np.testing.assert_allclose(together[row], alone, rtol=1e-12, atol=1e-12)

    def test_the_first_loss_is_that_of_guessing(self) -> None:
        """Fresh weights know nothing: the cross entropy is ln(vocabulary), the spread of the logits aside."""
        config = model.Config(layers=2, context=16)
        parameters = model.initial(config, np.random.default_rng(9))
        ids = np.random.default_rng(10).integers(0, config.vocabulary, (4, 17))
        loss, gradients = model.loss_and_gradients(parameters, config, ids[:, :-1], ids[:, 1:])
        self.assertAlmostEqual(loss, np.log(config.vocabulary), delta=0.2)
        self.assertTrue(all(array.dtype == np.float32 for array in gradients.values()))


if __name__ == "__main__":
    unittest.main()
