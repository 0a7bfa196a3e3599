"""Input that cannot work raises one clear error, before anything is compiled."""

import datetime
import warnings

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp import Recipe, TrainFunctions, fit, linear, load_model, measures, mlp
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, ClassWeighted, CrossEntropy, Mix, WarmStart
from aesara_nondecomp.measures import concave, pseudolinear
from aesara_nondecomp.metrics.class_rates import RunningRates, class_sums
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.recipes import Phase, Problem, recipe_for

pytestmark = pytest.mark.usefixtures("nothing_may_be_compiled")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = np.where(np.arange(40) < 12, 1, 0)
RECIPE, FUNCTIONS = Recipe((Phase(CrossEntropy(0.3)),)), TrainFunctions(linear(3))
TEXTS = ["good", "bad"] * 20
NAN, INFINITE = X.copy(), X.copy()
NAN[3, 1], INFINITE[5, 0] = np.nan, np.inf


FIT = [
    # data
    ({"y": np.ones(40)}, "two classes, got 1"),
    ({"y": np.arange(40) % 3}, "two classes, got 3"),
    ({"y": Y[:, None]}, r"got shape \(40, 1\).*ravel"),
    ({"y": Y[:30]}, "same number of rows, got 40 rows of features and 30 labels"),
    ({"y": []}, "at least two classes, got an empty array"),
    ({"y": np.where(Y, 1.0, np.nan)}, "must not be missing, got NaN"),
    ({"positive": 7}, "positive must be one of the two labels, got 7"),
    ({"positive": "1"}, "positive must be one of the two labels, got '1'. Known: 0, 1"),
    ({"X": NAN}, "finite.*row 3, column 1"),
    ({"X": INFINITE}, "finite.*row 5, column 0"),
    ({"X": scipy.sparse.csr_matrix(NAN)}, "finite.*row 3, column 1"),
    ({"X": np.empty((0, 3)), "y": []}, r"features must not be empty, got shape \(0, 3\)"),
    ({"X": np.empty((40, 0))}, r"must not be empty, got shape \(40, 0\)"),
    ({"X": X.astype(object)}, "must be numbers, got an array of dtype object"),
    ({"X": X.astype(str)}, "must be numbers, got an array of dtype <U"),
    ({"X": X[:, 0]}, r"two-dimensional, got shape \(40,\)"),
    ({"X": 3.0}, "two-dimensional, got shape"),
    ({"sample_weight": np.full(40, 1e-42)}, "sample_weight must be of ordinary size, got a largest of 1e-42"),
    ({"sample_weight": np.full(40, 1e39)}, "sample_weight must be of ordinary size"),
    # arguments of which one would leave the other without effect
    ({"network": FUNCTIONS, "optimizer": "adam"}, "leave optimizer out, got 'adam'"),
    ({"network": FUNCTIONS, "backend": "c"}, "leave backend out, got 'c'"),
    ({"X": TEXTS, "network": (8,)}, r"widths build an mlp, which takes numbers.*for text, got \(8,\)"),
    ({"X": TEXTS, "network": "mlp"}, "network='mlp' takes numbers: use attention or lstm for text"),
    ({"X": TEXTS, "network": mlp(3)}, "a network of your own takes token ids"),
    ({"network": "lstm"}, "texts must be a list of str"),
    ({"network": lambda size: "mlp"}, "must return a Network or TrainFunctions, got 'mlp'"),
    ({"network": 7}, "network must be a name, a sequence of widths, a Network, TrainFunctions.*got 7"),
    ({"network": "lstn"}, "unknown network 'lstn'. Did you mean 'lstm'"),
    ({"algorithm": RECIPE, "prior": 0.5}, "leave prior out, got 0.5"),
    # another kind of value
    ({"algorithm": ()}, r"unknown algorithm \(\)"),
    ({"standardize": "no"}, "standardize must be True or False, got 'no'"),
    ({"progress": "yes"}, "progress must be True, False or None, got 'yes'"),
    ({"checkpoint": 5}, "checkpoint must be the path of a file, such as 'run.npz', got 5"),
    ({"checkpoint": "."}, "checkpoint must be the path of a file, in a folder that exists, got '.'"),
    ({"comm": 4}, "comm must be a communicator of mpi4py, got 4"),
    ({"algorithm": np.ones(3)}, r"unknown algorithm array\(\[1"),
    ({"positive": [1]}, r"positive must be one of the two labels, got \[1\]"),
    ({"sample_weight": "ones"}, "sample_weight must be numbers, got 'ones'"),
    ({"on_step": np.array(3.0)}, "on_step must be a callable or a sequence of callables"),
    # prior
    ({"prior": 0.0}, "prior must lie strictly between 0 and 1, got 0.0"),
    ({"prior": 1.0}, "prior must lie strictly between 0 and 1, got 1.0"),
    ({"prior": -0.2}, "prior must lie strictly between 0 and 1, got -0.2"),
    ({"prior": float("nan")}, "prior must lie strictly between 0 and 1, got nan"),
    ({"prior": "half"}, "prior must lie strictly between 0 and 1, got 'half'"),
    # numbers
    ({"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
    ({"batch_size": -5}, "batch_size must be a whole number of at least 1, got -5"),
    ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1, got 2.5"),
    ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
    ({"steps": -1}, "steps must be a whole number"),
    ({"steps": True}, "steps must be a whole number of at least 1, got True"),
    ({"learning_rate": 0}, "learning_rate must be a positive finite number, got 0"),
    ({"learning_rate": -0.1}, "learning_rate must be a positive finite number, got -0.1"),
    ({"learning_rate": "fast"}, "learning_rate must be a positive finite number, got 'fast'"),
    ({"averaging": 1.0}, r"averaging must lie in \[0, 1\), got 1.0"),
    ({"averaging": -0.1}, r"averaging must lie in \[0, 1\), got -0.1"),
    ({"averaging": "none"}, r"averaging must lie in \[0, 1\), got 'none'"),
    ({"l2": "none"}, "l2 must be a finite number of at least 0, got 'none'"),
    ({"steps": np.array([5])}, "steps must be a whole number of at least 1, got array"),
    ({"learning_rate": np.ones(3)}, "learning_rate must be a positive finite number, got array"),
    ({"l2": -1e-3}, "l2 must be a finite number of at least 0, got -0.001"),
    ({"l2": float("inf")}, "l2 must be a finite number"),
    ({"algorithm": RECIPE._replace(temperature=0)}, "temperature must be a positive finite number, got 0"),
    ({"algorithm": RECIPE._replace(temperature=-1)}, "temperature must be a positive"),
    ({"network": (8, 0)}, "a hidden width must be a whole number of at least 1, got 0"),
    ({"network": "64"}, "unknown network '64'"),
    ({"network": {}}, "network must be a name, a sequence of widths"),
    ({"algorithm": "paper", "network": ()}, "no split into lower part and head. Give it a hidden layer"),
    # names, with the nearest
    ({"measure": "qmaen"}, "unknown measure 'qmaen'. Did you mean 'qmean'"),
    ({"algorithm": "duplle"}, "unknown algorithm 'duplle'. Did you mean 'duple'"),
    ({"optimizer": "addam"}, "unknown optimiser 'addam'. Did you mean 'adam'"),
    ({"schedule": "cosin"}, "unknown schedule 'cosin'. Did you mean 'cosine'"),
    ({"algorithm": RECIPE._replace(normalize="priors")}, "unknown normalize 'priors'. Did you mean 'prior'"),
    ({"sampler": "stratifed"}, "sampler must be a name.*got 'stratifed'. Did you mean 'stratified'"),
    ({"sampler": "cell_balancd"}, "sampler must be a name.*got 'cell_balancd'. Did you mean 'cell_balanced'"),
    ({"sampler": 1.5}, "share of positives strictly between 0 and 1, got 1.5"),
    ({"sampler": "balanced", "batch_size": 1}, "room for both classes in a batch, got batch_size=1"),
    ({"seed": -1}, "seed must be a non-negative integer.*got -1"),
    ({"seed": "x"}, "seed must be a non-negative integer.*got 'x'"),
    ({"schedule": type}, "schedule must be a function .* to a finite number of at least 0, got <class 'int'>"),
    ({"schedule": lambda step: -1.0}, "schedule must be a function .* to a finite number of at least 0, got -1"),
    # measures that the algorithm does not serve
    ({"measure": "f1", "algorithm": "duple"}, "'duple' cannot train for f1, which is pseudolinear. Use 'dame'"),
    ({"measure": "qmean", "algorithm": "dame_ns"}, "'dame' cannot train for qmean.*Use 'duple'"),
    ({"measure": "qmean", "algorithm": "denim"}, "'denim' cannot train for qmean.*Use 'duple'"),
    ({"measure": "qmeasure", "algorithm": "dame"}, "'dame' cannot train for qmeasure.*Use 'denim' or 'duple'"),
    ({"measure": "cqreward", "algorithm": "duple"}, "'duple' cannot train for cqreward.*Use 'dame'"),
    ({"measure": "gtppr"}, "no driver trains gtppr directly. Train on 'f1'"),
    ({"measure": "nkld"}, "no driver trains nkld directly. Train on 'kld'"),
    ({"measure": "gtppr", "algorithm": "dame"}, "'dame' cannot train for gtppr.*Train on 'f1'"),
]  # fmt: skip


@pytest.mark.parametrize("changes, message", FIT, ids=lambda value: str(value)[:60])
def test_an_unusable_argument_of_fit_is_refused_with_what_was_needed(changes, message):
    arguments = {"X": X, "y": Y, "measure": "f1", "batch_size": 16, "steps": 5, **changes}
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**arguments)


def test_fit_refuses_columns_that_the_network_does_not_have():
    with pytest.raises(ValueError, match="the 4 columns seen in training, got 3"):
        fit(X, Y, network=linear(4), batch_size=16)
    with pytest.raises(ValueError, match="the 4 columns seen in training, got 3"):
        fit(X, Y, network=TrainFunctions(linear(4)), batch_size=16)


MODEL = Model(FUNCTIONS, FUNCTIONS.parameters(), measures.get("f1"), (0, 1), 0.3)


@pytest.mark.parametrize("call, message", [
    (lambda: MODEL.predict(X[:, :2]), "the 3 columns seen in training, got 2"),
    (lambda: MODEL.predict(X[0]), r"two-dimensional, got shape \(3,\)"),
    (lambda: MODEL.decision_function(NAN), "finite.*row 3, column 1"),
    (lambda: MODEL.predict(X.astype(object)), "must be numbers"),
    (lambda: MODEL.score(X, Y + 1), "labels must be 0 or 1, as in training, got"),
    (lambda: MODEL.score(X, Y[:30]), "same number of rows"),
    (lambda: MODEL.value(X, Y[:, None]), "Pass y.ravel"),
    (lambda: MODEL.value(X, Y, "f11"), "unknown measure 'f11'. Did you mean 'f1'"),
    (lambda: MODEL.tune_threshold(X, Y[:30]), "same number of rows"),
    (lambda: MODEL.read_out("attention_weights", X), "read_out needs a network with extras"),
    (lambda: load_model(__file__, dtype=[]), r"unknown dtype \[\]. Known: float32, float64"),
    (lambda: load_model(__file__, dtype="float16"), "unknown dtype 'float16'. Did you mean"),
])  # fmt: skip
def test_a_model_refuses(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (lambda: measures.get("fbeta", beta=0), r"fbeta needs a finite beta at least 0\.0001 and at most 1e\+06, got 0"),
    (lambda: measures.get("fbeta", beta=-1), r"fbeta needs a finite beta at least 0\.0001 and at most 1e\+06, got -1"),
    (lambda: measures.get("qmeasure", beta=0), "qmeasure needs a finite beta at least"),
    (lambda: measures.get("fbeta", bta=2), "no parameter 'bta'. Did you mean 'beta'"),
    (lambda: measures.get("weighted_accuracy"), "needs the parameter c, got none"),
    (lambda: measures.get("weighted_accuracy", c=1.5), "weighted_accuracy needs a finite c"),
    (lambda: concave("square", lambda P, N, p: P * P, lambda P, N, p: (2 * P, 0.0)), "square is not concave"),
    (lambda: concave("root", lambda P, N, p: P**0.5, lambda P, N, p: (0.5 / P**0.5, 0.0)), "finite supergradient"),
    (lambda: concave("", max, max), "needs a name"),
    (lambda: pseudolinear("bad", (0, 1, 0), (0, 1, 0)), "bad needs a denominator above 0"),
    (lambda: pseudolinear("bad", (0, 1), (1, 0, 0)), "three finite coefficients"),
])  # fmt: skip
def test_an_unusable_measure_is_refused_with_what_was_needed(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


CE = CrossEntropy(0.3)


@pytest.mark.parametrize("call, message", [
    (lambda: DUPLE("qmaen", 0.3), "unknown measure 'qmaen'. Did you mean 'qmean'"),
    (lambda: DUPLE("f1", 0.3), "'duple' cannot train for f1.*Use 'dame'"),
    (lambda: DENIM("qmean", 0.3), "'denim' cannot train for qmean.*Use 'duple'"),
    (lambda: DAME("kld", 0.3), "'dame' cannot train for kld.*Use 'denim' or 'duple'"),
    (lambda: DUPLE("qmean", 0.0), "prior must lie strictly between 0 and 1"),
    (lambda: CrossEntropy(1.0), "prior must lie strictly between 0 and 1"),
    (lambda: CrossEntropy("0.3"), "prior must lie strictly between 0 and 1.*got '0.3'"),
    (lambda: ClassWeighted(0.3, 1.0), "positive must lie strictly between 0 and 1"),
    (lambda: DUPLE("qmean", 0.3, reward="hinge"), "reward must be 'sigmoid' or 'logistic'"),
    (lambda: DUPLE("qmean", 0.3, evaluate="both"), "evaluate must be 'old' or 'new'"),
    (lambda: DUPLE("qmean", 0.3, dual="exakt"), "dual must be 'exact' or 'step'"),
    (lambda: DUPLE("qmean", 0.3, dual="step", dual_rate=1.5), "dual_rate must be at most 1"),
    (lambda: DUPLE("min", 0.3, dual="step", dual_rate=0), "dual_rate must be a positive finite number"),
    (lambda: DUPLE("min", 0.3, dual_rate=0.1), "dual_rate needs dual='step', got 0.1"),
    (lambda: DUPLE("gmean", 0.3, cap=0), "cap must be a positive finite number"),
    (lambda: DUPLE("qmean", 0.3, forgetting=0), r"forgetting must lie in \(0, 1\]"),
    (lambda: DENIM("kld", 0.3, counts=True), "kld on counts.*needs eps > 0.*got 0.0"),
    (lambda: DUPLE("bakld", 0.3, counts=True), "bakld on counts.*needs eps > 0"),
    (lambda: DAME("bkreward", 0.3, counts=True), "bkreward on counts.*needs eps > 0"),
    (lambda: DENIM("kld", 0.3, eps=-0.1), "eps must be a finite number of at least 0, got -0.1"),
    (lambda: DAME("f1", 0.3, inner_steps=0), "inner_steps must be a whole number of at least 1"),
    (lambda: DAME("f1", 0.3, round_rows=-1), "round_rows must be a whole number of at least 1"),
    (lambda: Mix(CE, CE, 1.5), r"share must lie in \[0, 1\], got 1.5"),
    (lambda: Mix(CE, DUPLE("qmean", 0.3)), "anchor of a Mix needs fixed weights.*got 'DUPLE'"),
    (lambda: WarmStart(DUPLE("qmean", 0.3), 5, CE), "a WarmStart needs fixed weights.*got 'DUPLE'"),
    (lambda: WarmStart(CE, 0, CE), "steps must be a whole number of at least 1"),
    (lambda: RunningRates("accuracy"), "unknown reward 'accuracy'"),
    (lambda: class_sums(np.zeros((3, 1)), np.ones(3)), r"one shape \(b,\), got \(3, 1\) and \(3,\)"),
    (lambda: recipe_for("f11", Problem(0.3, 0.01)), "unknown measure 'f11'. Did you mean 'f1'"),
])  # fmt: skip
def test_drivers_and_their_helpers_refuse(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (lambda: mlp(0), "n_features must be a whole number of at least 1"),
    (lambda: mlp(3, activation="rleu"), "unknown activation 'rleu'. Did you mean 'relu'"),
    (lambda: mlp(3, dropout=1.0), r"dropout must lie in \[0, 1\)"),
    (lambda: mlp(3, dtype="float16"), "dtype must be 'float32' or 'float64'"),
    (lambda: TrainFunctions(linear(3), "momentun"), "unknown optimiser 'momentun'. Did you mean 'momentum'"),
    (lambda: next(train(None, CE, None, learning_rate=0)), "learning_rate must be a positive finite number"),
    (lambda: next(train(None, CE, None, learning_rate=1, normalize="x")), "unknown normalize 'x'"),
])  # fmt: skip
def test_networks_and_the_loop_refuse(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_prior_far_from_the_data_is_warned_of():
    # The run itself then stops at the compilation that this module forbids.
    with pytest.warns(UserWarning, match="prior = 0.9 is far from the 0.3"), pytest.raises(AssertionError):
        fit(X, Y, prior=0.9, batch_size=16)


def test_a_prior_near_the_data_is_not():
    with warnings.catch_warnings(), pytest.raises(AssertionError):
        warnings.simplefilter("error")
        fit(X, Y, prior=0.32, batch_size=16)


def test_a_batch_larger_than_the_data_is_warned_of():
    with pytest.warns(UserWarning, match="batch_size=64 exceeds the 40 training rows"), pytest.raises(AssertionError):
        fit(X, Y, batch_size=64, validation=None)


@pytest.mark.parametrize("parameters", [
    None, 3, [], [np.zeros((2, 1)), np.zeros(1)], [np.zeros((3, 1))], [((1, 2), (3,)), np.zeros(1)],
    [np.array([["a"]] * 3), np.zeros(1)], [np.full((3, 1), np.nan), np.zeros(1)], [np.zeros((3, 1)) * 1j, np.zeros(1)],
    [[[10**400]] * 3, np.zeros(1)],
], ids=lambda value: str(value)[:40])  # fmt: skip
def test_weights_to_start_from_that_are_not_those_of_the_network_are_refused(parameters):
    functions = TrainFunctions(linear(3))
    model = Model(functions, parameters, measures.get("f1"), (0, 1), 0.3)
    with pytest.raises(ValueError, match="the parameters of a model to train further must"):
        fit(X, Y, network=model, steps=5)


@pytest.mark.parametrize(("given", "message"), [
    (lambda gap: {"y": gap(Y == 1)}, "labels must not be missing, got <NA> among them"),
    (lambda gap: {"y": gap(Y.astype(str))}, "labels must not be missing, got (<NA>|NaN) among them"),
    (lambda gap: {"y": np.column_stack([gap(Y), Y])}, r"a matrix of labels must hold 0 and 1 only .* got \[<NA>\]"),
    (lambda gap: {"validation_groups": gap(Y.astype(str))}, "validation_groups must not be missing"),
])  # fmt: skip
def test_missing_values_of_pandas_are_refused_as_such(given, message):
    pandas = pytest.importorskip("pandas")

    def gap(values):
        column = pandas.Series(values.astype(object))
        column[3] = pandas.NA
        return column

    with pytest.raises(ValueError, match=message):
        fit(X, **{"y": Y, **given(gap)})


@pytest.mark.parametrize("groups", [["a", 1] * 20, [datetime.date(2020, 1, 1), 1] * 20], ids=["text", "date"])
def test_groups_of_several_kinds_are_refused(groups):
    with pytest.raises(ValueError, match="validation_groups must all be of one kind, such as text, got "):
        fit(X, Y, validation_groups=np.array(groups, dtype=object))


def test_a_column_whose_spread_has_no_reciprocal_is_refused():
    for columns in (X * 1e-310, np.column_stack([X[:, 1], X[:, 0] * 1e-310])):
        with pytest.raises(ValueError, match="features must have a spread that float64 can hold in full"):
            fit(columns, Y)


def test_an_entry_that_is_not_finite_is_named_by_its_row_among_all(tmp_path):
    def mapped(rows):
        rows.tofile(tmp_path / "rows")
        return np.memmap(tmp_path / "rows", rows.dtype, "r", shape=rows.shape)

    weight = np.where(np.arange(40) % 3, 1.0, 0.0)
    held_out = [{"validation": 0.3}, {"validation": "last"}, {"validation": None, "sample_weight": weight}]
    for given in (*held_out, {"validation": 0.3, "standardize": False}):
        for row in (7, 20, 38):
            rows = X.copy()
            rows[row, 2] = rows[39, 1] = np.inf
            table = {name: rows[:, column] for column, name in enumerate("abc")}
            of_matrix = rf"finite.* in row ({row}, column 2|39, column 1) \(from 0\)"
            of_table = rf"column 'c' .*finite.* in row {row + 1} \(from 1\)|column 'b' .*finite.* in row 40 \(from 1\)"
            matrices = [(kind, of_matrix) for kind in (rows, scipy.sparse.csr_matrix(rows), mapped(rows))]
            for kind, message in [*matrices, (table, of_table)]:
                with pytest.raises(ValueError, match=message):
                    fit(kind, np.arange(40) % 2, **{"network": linear(3), "seed": 0, **given})
    with pytest.raises(ValueError, match="in row 3, column 1"):
        fit(NAN, np.arange(40) % 3, "macro_f1", validation=0.3)
