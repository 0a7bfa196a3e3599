"""The names of version 0.1 still work, and a misspelt keyword is told the nearest one."""

import inspect
import pickle
from importlib import import_module

import pytest

import aesara_nondecomp as an
from aesara_nondecomp._names import FORMER_MODULES, named_keywords


@named_keywords(draws="n_resamples")
def resample(values, n_resamples=10):
    """Stands for a function with a renamed keyword."""
    return values, n_resamples


@pytest.mark.parametrize("former", FORMER_MODULES)
def test_a_former_module_is_the_present_one_under_both_names(former):
    pytest.importorskip("sklearn")
    present = import_module(f"aesara_nondecomp.{FORMER_MODULES[former]}")
    spec = present.__spec__
    assert import_module(f"aesara_nondecomp.{former}") is present
    assert getattr(an, former) is present
    assert present.__spec__ is spec and present.__name__ == spec.name


def test_what_was_pickled_by_a_former_module_is_found():
    sums = an.metrics.ClassSums(*range(8))
    former = pickle.dumps(sums, protocol=0).replace(b"aesara_nondecomp.metrics.class_rates", b"aesara_nondecomp.rates")
    assert pickle.loads(former) == sums


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (an, "Vote", "SoftVote"),
        (an.metrics, "ConfusionTable", "ConfusionMatrix"),
        (an.metrics, "confusion_table", "confusion_matrix"),
        (an.metrics, "table_at_threshold", "confusion_at_threshold"),
        (an.history, "one_class_from", "collapsed_since"),
    ],
)
def test_a_former_name_is_the_present_one_with_a_warning(module, old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} is now spelled {new}"):
        assert getattr(module, old) is getattr(module, new)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'fitt'"):
        _ = an.fitt


def test_a_former_keyword_is_taken_with_one_warning_that_points_at_the_caller():
    with pytest.warns(DeprecationWarning, match="'draws' of resample is now spelled 'n_resamples'") as caught:
        assert resample([1], draws=5) == ([1], 5)
    assert [warning.filename for warning in caught] == [__file__]


def test_an_unknown_keyword_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="resample has no parameter 'n_resample'. Did you mean 'n_resamples'"):
        resample([1], n_resample=5)


def test_both_spellings_of_a_keyword_are_refused():
    with pytest.raises(TypeError, match="both 'n_resamples' and its former spelling 'draws'"):
        resample([1], n_resamples=5, draws=5)


def test_a_decorated_function_keeps_its_signature():
    assert list(inspect.signature(resample).parameters) == ["values", "n_resamples"]
