"""The names of version 0.1 still work, and a misspelt keyword is told the nearest one."""

import inspect
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import aesara_nondecomp as an
from aesara_nondecomp._names import FORMER_MODULES, Joined, named_keywords


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


@pytest.mark.parametrize("former", FORMER_MODULES)
def test_a_former_module_is_an_attribute_before_it_is_imported(former):
    """The package's own ``__getattr__`` answers then, and would take a name of the module for the module."""
    assert an.__getattr__(former) is import_module(f"aesara_nondecomp.{FORMER_MODULES[former]}")


def test_every_former_module_is_a_module_of_its_own():
    """Importing the former name swaps the spec of its module for a moment, which two former names would confuse."""
    assert len(set(FORMER_MODULES.values())) == len(FORMER_MODULES)


@pytest.mark.parametrize("name", an._HOMES)
def test_a_public_name_is_what_its_home_defines_and_not_a_module(name):
    if "estimators" in an._HOMES[name]:
        pytest.importorskip("sklearn")
    assert getattr(an, name).__name__ == name and not isinstance(getattr(an, name), ModuleType)


RELOADING = """
import importlib, sys
import aesara_nondecomp as an
module, finders = importlib.import_module("aesara_nondecomp.schedules"), len(sys.meta_path)
assert importlib.reload(module) is module is importlib.reload(an).schedules
assert len(sys.meta_path) == finders
assert module.__spec__.name == "aesara_nondecomp.training.schedules"
"""


def in_another_process(code):
    """Run code in a fresh interpreter, in which every warning is an error."""
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=Path(__file__).parents[1], check=True)


def test_reloading_keeps_former_modules_and_adds_no_finder():
    in_another_process(RELOADING)


def test_former_modules_are_hidden_from_a_walk_through_the_package():
    found = {module.name for module in pkgutil.walk_packages(an.__path__, "aesara_nondecomp.")}
    assert not found & {f"aesara_nondecomp.{former}" for former in FORMER_MODULES}


IN_THREADS = """
import importlib, sys, threading
from aesara_nondecomp._names import FORMER_MODULES as former
present = {name: importlib.import_module(f"aesara_nondecomp.{home}") for name, home in former.items()}
sys.setswitchinterval(1e-6)
start, found = threading.Barrier(4 * len(former)), []

def load(name):
    start.wait()
    found.append(importlib.import_module(f"aesara_nondecomp.{name}") is present[name])

threads = [threading.Thread(target=load, args=(name,)) for name in [*former] * 4]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert found == [True] * len(threads), found
assert all(module.__spec__.name == module.__name__ for module in present.values())
"""


def test_former_modules_are_imported_by_many_threads_at_once_and_without_a_warning():
    in_another_process(IN_THREADS)


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


SPAN = Joined("span", lambda span, low=0, high=1: (low, high))


@named_keywords(joined={"low": SPAN, "high": SPAN}, gone={"mode": "leave it out"})
def plot(span=None):
    """Stands for a function two of whose keywords became one, and a third was dropped."""
    return span


def test_former_keywords_that_became_one_object_make_it_together():
    with pytest.warns(DeprecationWarning, match="of plot is now spelled 'span'") as caught:
        assert plot(high=3, low=2) == (2, 3)
    assert [warning.filename for warning in caught] == [__file__] * 2
    with pytest.warns(DeprecationWarning, match="'low' of plot"):
        assert plot(low=2) == (2, 1)


def test_a_keyword_that_was_dropped_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match="plot has no parameter 'mode' any more: leave it out"):
        plot(mode=1)
