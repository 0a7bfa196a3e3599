"""Parameters of `fit` by the names of 0.1.0, and unknown ones."""

import numpy as np
import pytest

import aesara_nondecomp as an

RNG = np.random.default_rng(0)
FORMER = [
    ({"optimiser": "sgd"}, {"optimizer": "sgd"}, "'optimiser' of fit is now spelled 'optimizer'"),
    ({"standardise": False}, {"standardize": False}, "'standardise' of fit is now spelled 'standardize'"),
    ({"hidden": (4,)}, {"network": (4,)}, "'hidden' of fit is now spelled 'network'"),
    (
        {"algorithm": "duple", "preset": "paper"},
        {"algorithm": "paper_duple"},
        "'preset' of fit is now spelled 'algorithm'",
    ),
    (
        {"validation": 0.25, "evaluate_every": 4, "patience": 1},
        {"validation": an.EarlyStopping(0.25, every=4, patience=1)},
        "of fit is now spelled 'validation'",
    ),
]


@pytest.mark.parametrize("former, present, message", FORMER)
def test_a_former_parameter_means_what_it_meant_and_warns(former, present, message):
    X, common = RNG.standard_normal((600, 3)), {"measure": "qmean", "steps": 12, "batch_size": 32, "seed": 1}
    with pytest.warns(DeprecationWarning, match=message) as caught:
        of_former = an.fit(X, X[:, 0] > 0, **common, **former)
    assert {warning.filename for warning in caught} == {__file__}
    of_present = an.fit(X, X[:, 0] > 0, **common, **present)
    assert all(np.array_equal(a, b) for a, b in zip(of_former.parameters, of_present.parameters))
    assert of_former.evaluations == of_present.evaluations


def test_former_options_of_a_checkpoint_make_one(tmp_path):
    X, common = RNG.standard_normal((600, 3)), {"steps": 10, "batch_size": 32, "seed": 1, "validation": None}
    with pytest.warns(DeprecationWarning, match="'checkpoint_every' of fit"):
        first = an.fit(
            X, X[:, 0] > 0, checkpoint=tmp_path / "run", checkpoint_every=5, on_step=lambda s: s.step == 5, **common
        )
    with pytest.warns(DeprecationWarning, match="'resume' of fit"):
        last = an.fit(X, X[:, 0] > 0, checkpoint=tmp_path / "run", resume=True, **common)
    assert len(first.history) == 5 and len(last.history) == 10


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("optimzer", "fit has no parameter 'optimzer'. Did you mean 'optimizer'"),
        ("temperature", "fit has no parameter 'temperature' any more: it is a field of a recipe"),
        ("initial", "train on from a model"),
        ("feature_names", "give a data frame"),
    ],
)
def test_an_unknown_parameter_is_refused_with_what_to_use(parameter, message):
    with pytest.raises(TypeError, match=message):
        an.fit([], [], **{parameter: 1})
