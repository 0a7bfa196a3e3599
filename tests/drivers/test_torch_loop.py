"""Drivers in a plain PyTorch loop: the README's two examples train what they say."""

import re
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import metrics
from aesara_nondecomp.data import Standardiser, load

torch = pytest.importorskip("torch", reason="the examples of a loop of one's own are in PyTorch")

README = Path(__file__).parents[2] / "README.md"

DUPLE_EXAMPLE = """
import torch
from aesara_nondecomp.drivers import DUPLE
from aesara_nondecomp.metrics.class_rates import class_sums

def train_qmean(net, X, y, steps=300):                   # X (n, d); y (n,), -1 or +1
    p = float((y > 0).float().mean())
    driver, optimiser = DUPLE("qmean", p), torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(steps):
        rows = torch.randint(len(y), (512,))
        f, s = net(X[rows])[:, 0], y[rows]
        sums = class_sums(f.detach(), s)
        if driver.needs_refresh():
            driver.refresh(sums)
        w = driver.weights()
        weight = torch.where(s > 0, w.sigmoid_pos / p, w.sigmoid_neg / (1 - p))
        optimiser.zero_grad()
        (-weight * torch.sigmoid(s * f)).mean().backward()
        optimiser.step()
        driver.observe(sums)
"""

DAME_EXAMPLE = """
import torch
from aesara_nondecomp.drivers import DAME
from aesara_nondecomp.metrics.class_rates import class_sums

def train_f1(net, X, y, steps=300):                      # a new level v from all rows every 25 steps
    p = float((y > 0).float().mean())
    driver = DAME("f1", p, reward="logistic", counts=True, inner_steps=25)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(steps):
        if driver.needs_refresh():
            driver.refresh(class_sums(net(X)[:, 0].detach(), y))
        rows = torch.randint(len(y), (512,))
        f, s = net(X[rows])[:, 0], y[rows]
        w = driver.weights()
        weight = torch.where(s > 0, w.logistic_pos / p, w.logistic_neg / (1 - p))
        optimiser.zero_grad()
        (-weight * torch.nn.functional.logsigmoid(s * f)).mean().backward()
        optimiser.step()
        driver.observe(class_sums(f.detach(), s))
"""


def examples() -> list:
    """The two fenced blocks below the README's mark, or the same code from here where it has none."""
    _, mark, after = README.read_text(encoding="utf-8").partition("<!-- torch-loop -->")
    section = after.split("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return blocks if mark and blocks else [DUPLE_EXAMPLE, DAME_EXAMPLE]


def function_of(example: str, name: str):
    names: dict = {}
    exec(compile(example, "README.md", "exec"), names)
    return names[name]


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


@pytest.mark.parametrize("position, name, measure, reached", [
    (0, "train_qmean", "qmean", 0.85),
    (1, "train_f1", "f1", 0.75),
])  # fmt: skip
def test_the_example_trains_its_measure(position, name, measure, reached, letter):
    train, test = letter
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    before = count_value(measure, net, *test)
    function_of(examples()[position], name)(net, *train)
    after = count_value(measure, net, *test)
    assert np.isfinite(after) and after > max(before + 0.2, reached)


@pytest.mark.parametrize("example", examples(), ids=["DUPLE", "DAME"])
def test_the_example_is_short(example):
    body = example[example.index("def ") :].strip().splitlines()
    assert len(body) <= 16
