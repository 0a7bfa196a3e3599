"""What a command shows on stderr: progress, what was chosen with --verbose, and nothing with --quiet."""

import re
import sys

import numpy as np
import pytest

from aesara_nondecomp.cli import main
from aesara_nondecomp.training import progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2)).round(3)
ROWS = "a,b,y\n" + "".join(f"{a},{b},{int(a + b > 0)}\n" for a, b in X)
SMALL = ["--network", "linear", "--steps", "20", "--target", "y"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("progress")
    table, model = folder / "t.csv", folder / "m"
    table.write_text(ROWS)
    assert main(["train", str(table), "--out", str(model), "--quiet", *SMALL]) == 0
    return str(table), str(model)


@pytest.fixture
def eager(monkeypatch):
    """Lines and bars come at once."""
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(progress, "BAR_AFTER", 0.0)


def commands(table, model, out):
    return {
        "train": ["train", table, "--out", out, *SMALL],
        "predict": ["predict", model, table, "--out", out],
        "evaluate": ["evaluate", model, table, "--draws", "5"],
        "compare": ["compare", model, model, table, "--draws", "5"],
        "quantify": ["quantify", model, table],
    }


NAMES = ["train", "predict", "evaluate", "compare", "quantify"]


@pytest.mark.parametrize("name", NAMES)
def test_a_log_gets_lines_and_no_fragments_and_with_quiet_nothing(files, tmp_path, eager, capsys, name):
    arguments = commands(*files, str(tmp_path / "out"))[name]
    assert main(arguments) == 0
    told = capsys.readouterr().err
    unit = "step" if name == "train" else "row"
    assert re.fullmatch(rf"({unit} \d+( of \d+)?, \d+ s\n)+", told)
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_gets_a_bar_and_with_quiet_nothing(files, tmp_path, eager, monkeypatch, capsys, name):
    pytest.importorskip("tqdm", reason="needs the extra progress")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    arguments = commands(*files, str(tmp_path / "out"))[name]
    assert main(arguments) == 0
    assert "\r" in capsys.readouterr().err
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_predictions_on_a_terminal_are_not_mixed_with_a_bar(files, eager, monkeypatch, capsys):
    for stream in (sys.stderr, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert main(["predict", files[1], files[0]]) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and len(captured.out.splitlines()) == 201


def test_what_takes_no_time_shows_no_progress(files, capsys):
    assert main(["evaluate", files[1], files[0], "--draws", "5"]) == 0
    assert capsys.readouterr().err == ""


HELD = [
    ("none", "200, none held out", "mlp"),
    ("0.2", "200, 40 held out", "mlp"),
    ("2", "200, 200 held out in turn", "mlp, 2"),
]


@pytest.mark.parametrize("validation, rows, network", HELD)
def test_verbose_says_once_on_stderr_what_was_chosen(files, tmp_path, capsys, validation, rows, network):
    arguments = ["train", files[0], "--out", str(tmp_path / "m"), *SMALL, "--validation", validation]
    assert main(arguments) == 0
    plain = capsys.readouterr()
    assert main([*arguments, "--verbose"]) == 0
    told = capsys.readouterr()
    lines = [line.partition(": ") for line in told.err.splitlines()]
    facts = {name: fact for name, _, fact in lines}
    assert plain.err == "" and told.out == plain.out
    assert [name for name, *_ in lines] == ["network", "rows", "steps", "threshold", "seconds"]
    assert facts["rows"] == rows and facts["network"].startswith(network)
    assert facts["steps"].startswith("40" if validation == "2" else "20")
    assert float(facts["threshold"]) == pytest.approx(float(told.out.split("threshold ")[1].split()[0]), rel=1e-3)
