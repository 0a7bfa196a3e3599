"""Weights and state of the compiled functions: copies that stay, exact continuation, equal seeds for equal bits."""

from __future__ import annotations

import numpy as np
import pytest
from test_train_functions import X, assert_same_bits, begin, climb, tanh_network

from aesara_nondecomp.networks import linear
from aesara_nondecomp.ops.optimisers import SGD
from aesara_nondecomp.step.train_functions import TrainFunctions


@pytest.fixture(scope="module")
def compiled_once():
    return TrainFunctions(tanh_network(), "adam")


@pytest.fixture
def functions(compiled_once):
    """The compiled network at its first weights, as if new."""
    begin(compiled_once)
    return compiled_once


def test_copies_of_the_weights_stay_as_they_were_when_steps_follow(functions):
    functions.configure(averaging=0.5)
    climb(functions, 2)
    taken = [*functions.parameters(), *functions.averaged_parameters(), *functions.state().values()]
    copies = [np.copy(value) for value in taken]
    loaded = functions.parameters()
    functions.load(loaded)
    climb(functions, 3)
    assert_same_bits(taken, copies)
    assert_same_bits(loaded, copies[: len(loaded)])


def test_other_weights_are_used_inside_a_block_and_put_back_after_an_error(functions):
    before, scores = functions.parameters(), functions.scores(X)
    other = [p + 1.0 for p in before]
    with functions.using(other):
        assert_same_bits(functions.parameters(), other)
        assert np.any(functions.scores(X) != scores)
    assert_same_bits(functions.parameters(), before)
    with pytest.raises(KeyError, match="inside"), functions.using(other):
        raise KeyError("inside")
    assert_same_bits(functions.parameters(), before)


def test_weights_of_other_shapes_are_refused_and_nothing_is_loaded(functions):
    before = functions.parameters()
    for wrong in (before[:-1], [*before[:-1], np.zeros(2)], [before[0].T, *before[1:]]):
        with pytest.raises(ValueError, match=r"parameters of shapes \[\(3, 4\), .* are needed, got"):
            functions.load(wrong)
    assert_same_bits(functions.parameters(), before)


def test_equal_seeds_give_equal_bits(functions):
    first = climb(functions, 5)
    begin(functions)
    assert_same_bits(climb(functions, 5), first)
    begin(functions, seed=1)
    assert any(np.any(a != b) for a, b in zip(climb(functions, 5), first))


def test_training_goes_on_from_a_state_bit_for_bit(functions):
    functions.configure(averaging=0.9)
    climb(functions, 5)
    state = functions.state()
    straight = climb(functions, 5), functions.averaged_parameters()
    other = TrainFunctions(tanh_network(), "adam")
    begin(other, seed=3)
    other.configure(averaging=0.9)
    other.restore(state)
    assert_same_bits(climb(other, 5), straight[0])
    assert_same_bits(other.averaged_parameters(), straight[1])


def test_a_state_holds_the_random_streams_and_is_plain_arrays(in_python, tmp_path):
    functions, other = (TrainFunctions(tanh_network(dropout=0.5), "sgd") for _ in range(2))
    begin(functions)
    climb(functions, 3)
    np.savez(tmp_path / "state.npz", **functions.state())
    straight = climb(functions, 3)
    begin(other, seed=9)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        other.restore(dict(state))
    assert_same_bits(climb(other, 3), straight)


def test_equal_seeds_give_equal_bits_with_dropout(in_python):
    functions = TrainFunctions(tanh_network(dropout=0.5), "sgd")
    begin(functions)
    first = climb(functions, 3)
    begin(functions)
    assert_same_bits(climb(functions, 3), first)


def test_a_state_of_another_network_or_optimiser_is_refused(functions):
    state, before = functions.state(), functions.parameters()
    other = TrainFunctions(linear(3, dtype="float64"), SGD()).state()
    with pytest.raises(ValueError, match="same network and optimiser, but averages.0, .*parameters.0"):
        functions.restore({**other, **{k: v for k, v in state.items() if k.startswith("slots")}})
    without = {name: value for name, value in state.items() if name != "slots.7"}
    with pytest.raises(ValueError, match="but slots.7 differ"):
        functions.restore(without)
    assert_same_bits(functions.parameters(), before)


def test_initialise_takes_given_weights_and_forgets_earlier_steps(functions):
    start = [p + 0.5 for p in functions.parameters()]
    functions.initialise(0, start)
    first = climb(functions, 3)
    functions.initialise(4, start)
    assert functions.state()["t"] == 0.0
    assert_same_bits(functions.averaged_parameters(), start)
    assert_same_bits(climb(functions, 3), first)
