"""The masked LSTM: C against NumPy, differences and PyTorch; and the networks made of it."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import by_c, by_perform, central_differences

from aesara_nondecomp import TrainFunctions, networks
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.embedding import lookup
from aesara_nondecomp.ops.lstm import LSTM, LSTMGradient, lstm

TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
B, D, H = 5, 3, 4
MASKS = {
    "full": np.ones((B, 6)),
    "one_token": np.ones((B, 1)),
    "padded_behind": np.arange(6) < np.array([[6], [1], [0], [3], [5]]),
    "padded_before": np.arange(6) >= np.array([[0], [5], [6], [3], [1]]),
    "holes": np.random.default_rng(3).random((B, 7)) < 0.5,
    "nothing": np.zeros((B, 3)),
}


def case(mask, dtype, seed=0):
    """x, mask, W, U, bias for a mask (b, T)."""
    rng = np.random.default_rng(seed)
    b, T = np.shape(mask)
    shapes = (T * b, D), (D, 4 * H), (H, 4 * H), (4 * H,)
    x, W, U, bias = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    return x, np.asarray(mask, dtype="int32"), W, U, bias


def assert_close(found, expected, tolerance):
    for one, other in zip(found, expected):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MASKS)
def test_the_c_code_gives_the_states_and_gradients_of_the_numpy_oracle(name, dtype):
    inputs = case(MASKS[name], dtype)
    mask, rng = inputs[1], np.random.default_rng(1)
    outputs = by_perform(LSTM(), *inputs)
    in_c = by_c(lambda *v: list(LSTM()(*v)), *inputs)
    assert_close(in_c[:3], outputs[:3], TOLERANCE[dtype])
    x, mask, W, U, _ = inputs
    for of_last, rows in ((True, len(mask)), (False, len(x))):
        upstream = rng.normal(size=(rows, H)).astype(dtype)
        given = (upstream, x, mask, W, U, *outputs[1:])
        slopes = by_c(lambda *v, of_last=of_last: list(LSTMGradient(of_last)(*v)), *given)
        assert_close(slopes, by_perform(LSTMGradient(of_last), *given), TOLERANCE[dtype])


@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_batch_shared_between_threads_gives_what_the_oracle_gives(threads):
    pools = pytest.importorskip("threadpoolctl")
    rng = np.random.default_rng(0)
    b, T, d, h = 200, 9, 20, 33
    mask = (rng.random((b, T)) < 0.7).astype("int32")
    x, W, U, bias = (0.5 * rng.normal(size=s) for s in ((T * b, d), (d, 4 * h), (h, 4 * h), (4 * h,)))
    outputs = by_perform(LSTM(), x, mask, W, U, bias)
    given = (rng.normal(size=(b, h)), x, mask, W, U, *outputs[1:])
    with pools.threadpool_limits(threads):
        states = by_c(lambda *v: list(LSTM()(*v)), x, mask, W, U, bias)
        slopes = by_c(lambda *v: list(LSTMGradient(True)(*v)), *given)
    assert_close(states[:3], outputs[:3], 1e-12)
    assert_close(slopes, by_perform(LSTMGradient(True), *given), 1e-11)


@pytest.mark.parametrize("name", ["padded_behind", "holes"])
def test_the_gradient_of_last_and_all_states_is_that_of_central_differences(name):
    x, mask, *weights = case(MASKS[name], "float64")
    rng = np.random.default_rng(2)
    of_last, of_states = rng.normal(size=(B, H)), rng.normal(size=(len(x), H))

    def value(x, W, U, bias):
        last, states, _, _ = by_perform(LSTM(), x, mask, W, U, bias)
        return float((of_last * last).sum() + (of_states * states).sum())

    def slopes(x, W, U, bias):
        last, states = lstm(x, at.constant(mask), W, U, bias)
        return aesara.grad((of_last * last).sum() + (of_states * states).sum(), [x, W, U, bias])

    found, arrays = by_c(slopes, x, *weights), [x, *weights]
    for k, slope in enumerate(found):
        numeric = central_differences(lambda a, k=k: value(*arrays[:k], a, *arrays[k + 1 :]), arrays[k])
        np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-7)


def test_the_last_state_is_that_of_the_valid_tokens_alone_and_zero_without_any():
    x, mask, *weights = case(MASKS["holes"], "float64")
    last = by_perform(LSTM(), x, mask, *weights)[0]
    by_row = x.reshape(-1, B, D)
    for r in range(B):
        tokens = by_row[mask[r] != 0, r]
        alone = by_perform(LSTM(), tokens, np.ones((1, len(tokens)), "int32"), *weights)[0]
        np.testing.assert_allclose(last[r], alone[0], rtol=1e-12)
    empty = by_perform(LSTM(), *case(MASKS["nothing"], "float64"))[0]
    np.testing.assert_array_equal(empty, np.zeros((B, H)))


@pytest.mark.parametrize("change", ["rows", "gates"])
def test_the_c_code_refuses_inputs_that_do_not_fit(change):
    x, mask, W, U, bias = case(MASKS["full"], "float32")
    wrong = {"rows": (x[1:], mask, W, U, bias), "gates": (x, mask, W[:, 1:], U, bias)}[change]
    with pytest.raises(ValueError, match="other sizes"):
        by_c(lambda *v: list(LSTM()(*v)), *wrong)


def test_a_mask_that_is_no_int32_is_refused():
    x, mask, W, U, bias = case(MASKS["full"], "float32")
    with pytest.raises(TypeError, match="int32 mask, got float32"):
        lstm(x, mask.astype("float32"), W, U, bias)


# -- PyTorch ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [[6, 6, 6], [6, 1, 3], [1, 1, 1]])
def test_states_and_gradients_are_those_of_pytorch(lengths):
    torch = pytest.importorskip("torch")
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    x, mask, W, U, bias = case(mask, "float32")
    upstream = np.random.default_rng(4).normal(size=(len(lengths), H)).astype("float32")

    def ours(x, W, U, bias):
        last, _ = lstm(x, at.constant(mask), W, U, bias)
        return [last, *aesara.grad((last * upstream).sum(), [x, W, U, bias])]

    layer = torch.nn.LSTM(D, H, batch_first=True)
    with torch.no_grad():
        for parameter, value in zip(layer.parameters(), (W.T, U.T, bias, 0 * bias)):
            parameter.copy_(torch.from_numpy(value.copy()))
    tokens = torch.from_numpy(x.reshape(-1, len(lengths), D).swapaxes(0, 1).copy()).requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(tokens, lengths, batch_first=True, enforce_sorted=False)
    last = layer(packed)[1][0][0]
    (last * torch.from_numpy(upstream)).sum().backward()
    dW, dU, db, _ = (p.grad.numpy() for p in layer.parameters())
    theirs = [last.detach().numpy(), tokens.grad.numpy().swapaxes(0, 1).reshape(-1, D), dW.T, dU.T, db]
    assert_close(by_c(ours, x, W, U, bias), theirs, 1e-5)


# -- the network -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def functions():
    made = TrainFunctions(networks.lstm(12, 4, 5, seed=0))
    made.configure(averaging=0.9)
    made.set_objective((0.0, 0.0, 1.0, 1.0), 0.05)
    return made


def task(n=40, seed=0):
    """Ids of random words, positive iff word 5 is among them."""
    rng = np.random.default_rng(seed)
    ids = rng.choice([1, 2, 3, 4, 6, 7], size=(n, 6)).astype("int32")
    ids[:, 4:] = 0
    ids[::2, rng.integers(0, 4)] = 5
    return ids, np.where((ids == 5).any(axis=1), 1, -1).astype("float32")


def test_the_network_learns_which_word_decides_and_padding_does_not_count(functions):
    functions.initialise(0)
    ids, y = task()
    for _ in range(100):
        functions.ascend(ids, y)
    assert ((functions.scores(ids) > 0) == (y > 0)).all()
    wider = np.hstack([np.zeros((len(ids), 2), "int32"), ids, np.zeros((len(ids), 3), "int32")])
    np.testing.assert_allclose(functions.scores(wider), functions.scores(ids), rtol=1e-5, atol=1e-6)


def test_words_that_never_occur_keep_their_embedding_and_their_average(functions):
    functions.initialise(0)
    before = functions.parameters()[0]
    for _ in range(5):
        functions.ascend(*task())
    for table in (functions.parameters()[0], functions.averaged_parameters()[0]):
        np.testing.assert_array_equal(table[[0, *range(8, 12)]], before[[0, *range(8, 12)]])
        assert (table[1:8] != before[1:8]).all()
    np.testing.assert_array_equal(functions.state()["touched.0"], [0, *[5] * 7, *[0] * 4])


def test_a_stored_state_continues_to_the_same_bits(functions):
    functions.initialise(1)
    for seed in range(3):
        functions.ascend(*task(seed=seed))
    state = functions.state()
    functions.ascend(*task(seed=3))
    expected = functions.averaged_parameters()
    functions.initialise(7)
    functions.restore(state)
    functions.ascend(*task(seed=3))
    for one, other in zip(functions.averaged_parameters(), expected):
        np.testing.assert_array_equal(one, other)


def test_recurrent_weights_start_orthogonal_per_gate_and_by_the_seed():
    first, again, other = (networks.lstm(9, 3, 4, dtype="float64", seed=seed).parameters for seed in (0, 0, 1))
    for gate in np.split(first[2].get_value(), 4, axis=1):
        np.testing.assert_allclose(gate @ gate.T, np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(first[0].get_value(), again[0].get_value())
    assert (first[0].get_value()[1:] != other[0].get_value()[1:]).all()


def test_both_networks_are_built_again_from_their_descriptions():
    for network in (networks.lstm(9, 3, 4), networks.attention(9, 3, 4, 5, 6, dtype="float64")):
        again = networks.build(network.description)
        assert again.description == network.description
        shapes = [[p.get_value().shape for p in each.parameters] for each in (network, again)]
        assert shapes[0] == shapes[1] and again.dtype == network.dtype


def test_a_table_that_is_no_parameter_is_refused():
    table, W = (aesara.shared(np.zeros((3, 2), "float32"), name=name) for name in ("table", "W"))
    ids = at.matrix("ids", dtype="int32")
    words = lookup(table, ids)
    with pytest.raises(ValueError, match="each table of `lookups` must be a parameter"):
        networks.Network(ids, at.dot(words.rows, W.T)[:, :1], [W], lookups=[words])
