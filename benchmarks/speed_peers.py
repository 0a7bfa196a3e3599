"""The step that `speed` times, built by each contestant: ours, PyTorch (eager and compiled) and JAX.

All contestants do the same work on the same float32 arrays: scores of a ReLU network, the sigmoid reward, the gradient
of its weighted mean, an Adam step, and class sums returned to the same driver in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp.drivers import RewardWeights
from aesara_nondecomp.metrics.class_rates import ClassSums

LEARNING_RATE = 1e-4
Step = Callable[[RewardWeights], ClassSums]


class Case(NamedTuple):
    """One mini-batch and one network."""

    X: np.ndarray
    y: np.ndarray
    hidden: tuple[int, ...]
    prior: float

    @property
    def widths(self) -> list[int]:
        """Units of each layer, with input and output."""
        return [self.X.shape[1], *self.hidden, 1]

    def weights_of_rows(self, weights: RewardWeights) -> tuple[float, float]:
        """Weight of the sigmoid reward of a positive and of a negative row."""
        return weights.sigmoid_pos / self.prior, weights.sigmoid_neg / (1 - self.prior)


def our_step(case: Case) -> Step:
    """The compiled step of this package."""
    import aesara_nondecomp as an

    functions = an.TrainFunctions(an.mlp(case.X.shape[1], case.hidden, seed=0))

    def step(weights: RewardWeights) -> ClassSums:
        functions.set_objective((*case.weights_of_rows(weights), 0.0, 0.0), LEARNING_RATE)
        return functions.ascend(case.X, case.y)[0]

    return step


def torch_step(case: Case) -> Step:
    """PyTorch, eager, with fused Adam, which its documentation calls the fastest."""
    return _torch_step(case, compiled=False)


def torch_compiled_step(case: Case) -> Step:
    """PyTorch with network and loss compiled by torch.compile."""
    return _torch_step(case, compiled=True)


def _torch_step(case: Case, compiled: bool) -> Step:
    import torch

    torch.manual_seed(0)
    network = torch_network(case.widths)
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, fused=True)
    X, y = torch.from_numpy(case.X), torch.from_numpy(case.y)
    classes = torch.stack([(y > 0).float(), (y < 0).float()])
    n_rows = float(len(case.y))

    def objective(weights: Any) -> Any:
        rewards = torch.sigmoid(y * network(X)[:, 0])
        sums = classes @ rewards
        return -(weights @ sums) / n_rows, sums

    objective = torch.compile(objective) if compiled else objective
    sums_of = _sums_of(case)

    def step(weights: RewardWeights) -> ClassSums:
        optimiser.zero_grad()
        loss, sums = objective(torch.tensor(case.weights_of_rows(weights)))
        loss.backward()
        optimiser.step()
        return sums_of(*sums.tolist())

    return step


def torch_network(widths: list[int]) -> Any:
    """A ReLU network as a torch.nn.Sequential."""
    import torch

    layers: list[Any] = []
    for width, following in zip(widths[:-1], widths[1:]):
        layers += [torch.nn.Linear(width, following), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def jax_step(case: Case) -> Step:
    """JAX: the whole step as one jitted function with donated state."""
    import jax
    import jax.numpy as jnp

    X, y = jnp.asarray(case.X), jnp.asarray(case.y)
    classes = jnp.stack([(y > 0).astype("float32"), (y < 0).astype("float32")])

    def objective(parameters: Any, weights: Any) -> Any:
        *inner, (W, b) = parameters
        hidden = X
        for W_inner, b_inner in inner:
            hidden = jax.nn.relu(hidden @ W_inner + b_inner)
        sums = classes @ jax.nn.sigmoid(y * (hidden @ W + b)[:, 0])
        return weights @ sums / len(y), sums

    def ascend(state: Any, weights: Any) -> Any:
        parameters, means, squares, t = state
        gradients, sums = jax.grad(objective, has_aux=True)(parameters, weights)
        return (*_jax_adam(parameters, gradients, means, squares, t + 1), t + 1), sums

    ascend = jax.jit(ascend, donate_argnums=0)
    state, sums_of = _jax_state(case.widths), _sums_of(case)

    def step(weights: RewardWeights) -> ClassSums:
        nonlocal state
        state, sums = ascend(state, np.array(case.weights_of_rows(weights), dtype="float32"))
        return sums_of(*np.asarray(sums).tolist())

    return step


def _jax_state(widths: list[int]) -> tuple[Any, ...]:
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    parameters = [
        (jnp.asarray(rng.normal(0, (2 / m) ** 0.5, (m, n)).astype("float32")), jnp.zeros(n, dtype="float32"))
        for m, n in zip(widths[:-1], widths[1:])
    ]
    means, squares = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))
    return parameters, means, squares, jnp.zeros((), dtype="float32")


def _jax_adam(parameters: Any, gradients: Any, means: Any, squares: Any, t: Any) -> tuple[Any, Any, Any]:
    import jax
    import jax.numpy as jnp

    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
    squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, squares, gradients)
    rate, unbias = LEARNING_RATE / (1 - 0.9**t), 1 / jnp.sqrt(1 - 0.999**t)
    moved = jax.tree.map(lambda p, m, s: p + rate * m / (jnp.sqrt(s) * unbias + 1e-8), parameters, means, squares)
    return moved, means, squares


def _sums_of(case: Case) -> Callable[[float, float], ClassSums]:
    """From a peer's two sums to class sums; rows are counted once, because counting is not part of a step."""
    n_pos = float((case.y > 0).sum())
    n_neg = len(case.y) - n_pos
    return lambda positives, negatives: ClassSums(positives, negatives, 0.0, 0.0, 0.0, 0.0, n_pos, n_neg)
