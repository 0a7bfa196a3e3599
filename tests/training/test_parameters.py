"""One table of parameters: `fit`, the estimator, the command line and the documentation say what it says."""

import inspect
from pathlib import Path

import pytest

import aesara_nondecomp as an
from aesara_nondecomp.cli.parser import FIT_OPTIONS, build_parser
from aesara_nondecomp.training.parameters import PARAMETERS, as_markdown, check_parameters

# Whose range is the data's.
DATA = {"X", "y", "measure", "target", "positive", "sample_weight", "groups", "validation_groups", "comm", "seed"}
ESTIMATOR = {"pos_label", "verbose", "random_state"}  # as scikit-learn calls positive, progress and seed


def signature(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if name != "self"}


def test_fit_has_at_most_28_parameters_each_with_a_row():
    parameters = signature(an.fit)
    assert len(parameters) <= 28 and set(parameters) - DATA <= set(PARAMETERS)


def test_the_signatures_have_the_defaults_of_the_table():
    pytest.importorskip("sklearn")
    # None stands for the default where compiled functions may have one of their own.
    for name, default in signature(an.fit).items():
        assert name in DATA or default in (None, PARAMETERS[name].default), name
    shared = {name: d for name, d in signature(an.MeasureClassifier).items() if name not in DATA | ESTIMATOR}
    assert shared == {name: PARAMETERS[name].default for name in shared}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_row_accepts_its_own_default_and_says_what_it_is_for(name):
    row = PARAMETERS[name]
    if row.default is not None:
        check_parameters(**{name: row.default})
    assert row.text.endswith(".") and row.accepts and not row.accepts.endswith(".")


def test_the_command_line_has_an_option_for_every_row_that_can_be_read():
    options = vars(build_parser().parse_args(["train", "t.csv", "--out", "m"]))
    readable = {name for name, row in PARAMETERS.items() if row.read is not None}
    assert readable <= set(options) and set(FIT_OPTIONS) <= readable
    for name in readable:
        default = check_parameters(**{name: PARAMETERS[name].default})[name]
        same = vars(options[name]) == vars(default) if name == "validation" else options[name] == default
        assert same, name


def test_the_documented_table_is_the_one_in_force():
    path = Path(__file__).parents[2] / "docs" / "parameters.md"
    assert path.read_text(encoding="utf-8").strip() == as_markdown()


@pytest.mark.parametrize("text", ["None", "none", "NONE"])
@pytest.mark.parametrize("name", ["patience", "validation"])
def test_none_can_be_typed_in_any_case(name, text):
    assert PARAMETERS[name].read(text) is None
