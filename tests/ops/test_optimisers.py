"""Optimisers: the fused update's C code, its NumPy route and the textbook formulas, all three against each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from op_oracles import IN_C

import aesara_nondecomp as an
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops import FusedUpdate, optimisers
from aesara_nondecomp.ops.optimisers import SGD, Adam, AdamW, Momentum, Nesterov, Optimiser

RULES = [SGD(), Momentum(0.8), Nesterov(0.7), Adam(0.8, 0.95, 1e-6), AdamW(0.85, 0.99)]
BY_CLASS = pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
STEPS = 20
DECAY = (0.3, 0.0)  # of the weights and of the biases
SHAPES = ((3, 5), (5,))  # neither size a multiple of 8


def problem(dtype: str = "float64", scale: float = 1.0):
    """Initial parameters (matrix and vector), and gradients for every step."""
    rng = np.random.default_rng(9)
    start = [rng.normal(size=shape).astype(dtype) for shape in SHAPES]
    return start, [[scale * rng.normal(size=shape).astype(dtype) for shape in SHAPES] for _ in range(STEPS)]


def moving(rule, start):
    """Of each parameter what its update moves: itself, its slots and its average, as the Op lists them."""
    return [[p.copy(), *(np.zeros_like(p) for _ in rule.slots), p.copy()] for p in start]


def run_in_c(rule, start, gradients, rates, averaging=0.0):
    """Parameters, averages and gradient norm after each step, by one compiled function."""
    t, shared = aesara.shared(np.array(0.0)), [[aesara.shared(v) for v in own] for own in moving(rule, start)]
    rate, g = at.dscalar(), [at.TensorType(str(p.dtype), shape=(None,) * p.ndim)() for p in start]
    norms, updates = [], {}
    for k, own in enumerate(shared):
        new_t, *new, norm = FusedUpdate(rule, k)(rate, np.array(averaging), t, np.array(DECAY), own[0], g[k], *own[1:])
        updates.update([(t, new_t), *zip(own, new)])
        norms.append(norm)
    step = aesara.function([rate, *g], norms, updates=updates, mode=IN_C, accept_inplace=True)
    assert all(hasattr(thunk, "cthunk") for thunk in step.vm.thunks)
    for one_rate, one_gradient in zip(rates, gradients):
        norm = math.hypot(*step(one_rate, *one_gradient))
        yield [own[0].get_value() for own in shared], [own[-1].get_value() for own in shared], norm


def run_in_numpy(rule, start, gradients, rates, averaging=0.0):
    """The same by the Op's NumPy implementation."""
    values, t = moving(rule, start), np.array(0.0)
    for one_rate, one_gradient in zip(rates, gradients):
        norms = []
        for k, (own, g) in enumerate(zip(values, one_gradient)):
            storage = [[None] for _ in range(len(own) + 2)]
            scalars = [np.array(one_rate), np.array(averaging), t, np.array(DECAY)]
            FusedUpdate(rule, k).perform(None, [*scalars, own[0], g, *own[1:]], storage)
            norms.append(float(storage[-1][0]))
        t = storage[0][0]
        yield [own[0].copy() for own in values], [own[-1].copy() for own in values], math.hypot(*norms)


# The textbook formulas, for one parameter, one rate and all gradients so far; `steps` yields the parameter.


def textbook(rule, p, gradients, rate, decay):
    return {
        SGD: plain_sums, Momentum: momentum_sums, Nesterov: sutskever, Adam: adam_sums, AdamW: adam_sums
    }[type(rule)](rule, p, gradients, rate, decay)  # fmt: skip


def plain_sums(rule, p, gradients, rate, decay):
    for g in gradients:
        p = (1 - rate * decay) * p + rate * g
        yield p


def momentum_sums(rule, p, gradients, rate, decay):
    """The velocity as the explicit sum over past gradients."""
    seen = []
    for g in gradients:
        seen.append(g - decay * p)
        p = p + rate * sum(rule.momentum**age * old for age, old in enumerate(reversed(seen)))
        yield p


def sutskever(rule, p, gradients, rate, decay):
    """Sutskever et al. 2013: the gradient is taken at theta + momentum * velocity, which is the parameter here."""
    theta, velocity = p, 0.0
    for g in gradients:
        ahead = theta + rule.momentum * velocity
        velocity = rule.momentum * velocity + rate * (g - decay * ahead)
        theta = theta + velocity
        yield theta + rule.momentum * velocity


def adam_sums(rule, p, gradients, rate, decay):
    """Kingma and Ba 2015, with the moments as explicit weighted means over past gradients."""
    decoupled, seen = isinstance(rule, AdamW), []
    for g in gradients:
        seen.append(g if decoupled else g - decay * p)
        p = p - (rate * decay * p if decoupled else 0.0)
        ages = np.arange(len(seen))[::-1]
        mean, square = (
            np.average([s**power for s in seen], axis=0, weights=beta**ages)
            for power, beta in ((1, rule.beta1), (2, rule.beta2))
        )
        p = p + rate * mean / (np.sqrt(square) + rule.epsilon)
        yield p


@BY_CLASS
def test_update_in_c_equals_the_numpy_route_over_changing_learning_rates(rule):
    rates = np.linspace(0.2, 0.01, STEPS)
    for c, numpy in zip(run_in_c(rule, *problem(), rates, 0.9), run_in_numpy(rule, *problem(), rates, 0.9)):
        for one, other in zip([*c[0], *c[1], c[2]], [*numpy[0], *numpy[1], numpy[2]]):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_update_in_float32_stays_near_the_float64_one():
    rates = np.full(STEPS, 0.05)
    for single, double in zip(run_in_c(Adam(), *problem("float32"), rates), run_in_c(Adam(), *problem(), rates)):
        for one, other in zip(single[0], double[0]):
            assert one.dtype == "float32"
            np.testing.assert_allclose(one, other, atol=2e-6)


@BY_CLASS
def test_numpy_route_equals_the_textbook(rule):
    (start, gradients), rate = problem(), 0.05
    taken = list(run_in_numpy(rule, start, gradients, [rate] * STEPS))
    for k in range(2):
        expected = textbook(rule, start[k], [g[k] for g in gradients], rate, DECAY[k])
        for step, p in zip(taken, expected):
            np.testing.assert_allclose(step[0][k], p, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("rule", "name"), [(Adam(), "Adam"), (AdamW(), "AdamW")])
def test_adam_takes_the_steps_of_pytorch(rule, name):
    torch = pytest.importorskip("torch", reason="PyTorch is an optional peer")
    start, gradients = problem()
    p = torch.tensor(start[0], requires_grad=True)
    peer = getattr(torch.optim, name)([p], lr=0.05, weight_decay=DECAY[0], maximize=True)
    for step, g in zip(run_in_c(rule, start, gradients, [0.05] * STEPS), gradients):
        # PyTorch adds the decay after turning the gradient round, so the sign of ours is the same.
        p.grad = torch.tensor(g[0])
        peer.step()
        np.testing.assert_allclose(step[0][0], p.detach().numpy(), rtol=1e-9, atol=1e-11)


def test_running_average_is_the_bias_corrected_exponential_one():
    d, visited = 0.8, []
    for parameters, averages, _ in run_in_c(SGD(), *problem(), [0.1] * STEPS, d):
        visited.append(parameters[0])
        weights = (1 - d) * d ** np.arange(len(visited))[::-1] / (1 - d ** len(visited))
        np.testing.assert_allclose(averages[0], np.tensordot(weights, visited, axes=1), rtol=1e-12)
        assert weights.sum() == pytest.approx(1.0)


def test_running_average_without_memory_is_a_copy_of_the_parameters():
    for parameters, averages, _ in run_in_c(SGD(), *problem(), [0.1] * STEPS, 0.0):
        for p, average in zip(parameters, averages):
            np.testing.assert_array_equal(average, p)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradient_norm_is_the_euclidean_one_over_all_parameters(dtype):
    start, gradients = problem(dtype)
    for (_, _, norm), g in zip(run_in_c(Adam(), start, gradients, [0.1] * STEPS), gradients):
        expected = np.linalg.norm(np.concatenate([part.astype("float64").ravel() for part in g]))
        assert norm == pytest.approx(expected, rel=1e-6 if dtype == "float32" else 1e-14)


def test_adams_first_step_has_the_size_of_the_learning_rate():
    start, gradients = problem(scale=1e-3)
    first = next(run_in_c(Adam(), [np.zeros_like(p) for p in start], gradients, [0.05]))[0][0]
    np.testing.assert_allclose(first, 0.05 * np.sign(gradients[0][0]), rtol=1e-3)


@pytest.mark.parametrize("wrong", ["gradient", "slot", "decay"])
def test_arrays_of_other_sizes_are_refused_before_memory_is_touched(wrong):
    start, gradients = problem()
    own = [aesara.shared(value) for value in moving(Momentum(0.8), start)[0]]
    if wrong == "slot":
        own[1].set_value(np.zeros((1, 1)))
    g, update = at.dmatrix(), FusedUpdate(Momentum(0.8), len(DECAY) if wrong == "decay" else 0)
    _, *new, norm = update(0.1, 0.0, 0.0, DECAY, own[0], g, *own[1:])
    step = aesara.function([g], norm, updates=list(zip(own, new)), mode=IN_C, accept_inplace=True)
    with pytest.raises(ValueError, match="an average of its size"):
        step(gradients[0][0][:2] if wrong == "gradient" else gradients[0][0])
    np.testing.assert_array_equal(own[0].get_value(), start[0])


def test_an_update_of_mixed_types_or_too_few_arrays_is_refused():
    scalars = [at.dscalar(), at.dscalar(), at.dscalar(), at.dvector()]
    with pytest.raises(TypeError, match=r"share one dtype, got \['float32', 'float64'\]"):
        FusedUpdate(SGD(), 0)(*scalars, at.dmatrix(), at.fmatrix(), at.dmatrix())
    with pytest.raises(TypeError, match="needs 8 inputs, got 7"):
        FusedUpdate(Momentum(), 0)(*scalars, at.dmatrix(), at.dmatrix(), at.dmatrix())


def test_optimisers_are_found_by_name_or_kept():
    named = {"sgd": SGD(), "momentum": Momentum(), "nesterov": Nesterov(), "adam": Adam(), "adamw": AdamW()}
    assert {name: optimisers.get(name) for name in named} == named
    assert optimisers.get(RULES[3]) is RULES[3]
    assert Nesterov(0.9) != Momentum(0.9)


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """As a user would add it."""

    rho: float = 0.9
    slots: ClassVar[tuple[str, ...]] = ("square",)

    def step(self, p, g, slots, learning_rate, decay, t):
        g = g - decay * p
        square = self.rho * slots[0] + (1 - self.rho) * g * g
        return p + learning_rate * g / (square**0.5 + 1e-6), (square,)

    def c_constants(self):
        return f"const number rho = (number) {self.rho!r};"

    def c_step(self):
        return """
        g -= decay * p;  // the penalty's gradient
        s0 = rho * s0 + (1 - rho) * g * g;
        p += lr * g / ((number) sqrt(s0) + (number) 1e-6);
        """


def test_an_optimiser_is_added_by_its_rule_and_its_name_alone(monkeypatch):
    monkeypatch.setitem(optimisers.OPTIMISERS, "rmsprop", RMSProp)
    rule, rates = optimisers.get("rmsprop"), [0.01] * STEPS
    for c, numpy in zip(run_in_c(rule, *problem(), rates, 0.9), run_in_numpy(rule, *problem(), rates, 0.9)):
        for one, other in zip([*c[0], *c[1], c[2]], [*numpy[0], *numpy[1], numpy[2]]):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = an.fit(
        X, X[:, 0] > 0, "qmean", network=(), steps=200, batch_size=50, seed=0, optimizer="rmsprop", validation=None
    )
    assert np.mean(model.predict(X) == (X[:, 0] > 0)) > 0.9


def test_an_unknown_optimiser_brings_up_the_nearest():
    with pytest.raises(ValueError, match="unknown optimiser 'adan'. Did you mean 'adam'"):
        optimisers.get("adan")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Momentum(1.0), r"momentum must lie in \[0, 1\), got 1.0"),
        (lambda: Nesterov(-0.1), "momentum must lie in"),
        (lambda: Adam(beta2=1.0), r"beta1 and beta2 must lie in \[0, 1\)"),
        (lambda: AdamW(epsilon=0.0), "epsilon must be positive, got 0.0"),
    ],
)
def test_constants_out_of_range_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
