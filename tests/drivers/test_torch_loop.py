"""Drivers in a plain PyTorch loop: the two functions of the example train what they say."""

import inspect
import runpy
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import metrics
from aesara_nondecomp.data import Standardiser, load

torch = pytest.importorskip("torch", reason="the examples of a loop of one's own are in PyTorch")

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "other_libraries" / "torch_loop.py"


@pytest.fixture(scope="module")
def letter():
    """Training and test rows of the embedded set, scaled, and labels in {-1, +1}."""
    data = load("letter")
    scaling = Standardiser.fit(data.X_train)
    parts = ((data.X_train, data.y_train), (data.X_test, data.y_test))
    return [(torch.from_numpy(scaling.transform(X)), torch.from_numpy(2.0 * y - 1.0).float()) for X, y in parts]


def count_value(measure, net, X, y) -> float:
    with torch.no_grad():
        return metrics.score(measure, metrics.confusion_at_threshold(net(X)[:, 0].numpy(), y.numpy(), 0.0))


@pytest.mark.parametrize("name, measure, reached", [("train_qmean", "qmean", 0.85), ("train_f1", "f1", 0.75)])
def test_the_example_trains_its_measure(name, measure, reached, letter):
    train, test = letter
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    before = count_value(measure, net, *test)
    runpy.run_path(str(EXAMPLE))[name](net, *train)
    after = count_value(measure, net, *test)
    assert np.isfinite(after) and after > max(before + 0.2, reached)


@pytest.mark.parametrize("name", ["train_qmean", "train_f1"])
def test_the_example_is_short(name):
    assert len(inspect.getsource(runpy.run_path(str(EXAMPLE))[name]).strip().splitlines()) <= 16
