"""The step of K = 7 classes that `speed` times, beside our step of two classes and a softmax step by PyTorch.

All do the same on the same float32 rows: scores of a ReLU network, the adjusted logistic reward of DUPLE for Q-mean, an
Adam step, and class sums returned to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import speed_peers

BATCH, COLUMNS, HIDDEN, N_CLASSES = 512, 54, (64, 64), 7
NAME = f"{BATCH}x{COLUMNS}-64-64x{N_CLASSES}"
GOALS = {"binary": 1.25, "torch": 0.6}  # times our step of two classes, and PyTorch's of as many


def contestants(binary: Callable[[], Any], peers: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """The loops to time: ours, that of two classes, and PyTorch's if it is among the peers.

    Parameters
    ----------
    binary : callable
        One step of two classes on rows of the same shape.
    peers : sequence of str
        Names of those that work here.

    Returns
    -------
    dict of str to callable
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BATCH, COLUMNS)).astype("float32")
    y = (np.arange(BATCH) % N_CLASSES).astype("int32")
    runs = {"ours": _loop(_our_step(X, y), y), "binary": binary}
    return {**runs, "torch": _loop(_torch_step(X, y), y)} if "torch" in peers else runs


def _loop(step: Callable[[Any], Any], y: np.ndarray) -> Callable[[], None]:
    """Gains from the driver, the contestant's step, confusion sums to the driver."""
    from aesara_nondecomp.drivers.multiclass import DUPLE
    from aesara_nondecomp.measures.multiclass import Cells

    driver = DUPLE("qmean", Cells(np.bincount(y) / len(y)))
    driver.refresh(step(driver.gains()))

    def run() -> None:
        driver.observe(step(driver.gains()))

    return run


def _our_step(X: np.ndarray, y: np.ndarray) -> Callable[[Any], Any]:
    from aesara_nondecomp.measures.multiclass import Cells
    from aesara_nondecomp.networks import mlp
    from aesara_nondecomp.step.class_functions import ClassFunctions

    network = mlp(COLUMNS, HIDDEN, n_scores=N_CLASSES, seed=0)
    functions = ClassFunctions(network, Cells(np.bincount(y) / len(y)))
    weight = np.ones(len(y), "float32")

    def step(gains: Any) -> Any:
        functions.steer(gains, speed_peers.LEARNING_RATE)
        return functions.ascend(X, y, weight)[0]

    return step


def _torch_step(X: np.ndarray, y: np.ndarray) -> Callable[[Any], Any]:
    import torch

    from aesara_nondecomp.metrics import ConfusionSums

    torch.manual_seed(0)
    network = speed_peers.torch_network([COLUMNS, *HIDDEN, N_CLASSES])
    optimiser = torch.optim.Adam(network.parameters(), lr=speed_peers.LEARNING_RATE, fused=True)
    rows, labels = torch.from_numpy(X), torch.from_numpy(y.astype("int64"))
    shares, counts = np.bincount(y) / len(y), np.bincount(y).astype(float)

    def step(gains: Any) -> Any:
        optimiser.zero_grad()
        scores = network(rows)
        logs, shift = (torch.tensor(each, dtype=torch.float32) for each in (gains.logs / shares, gains.shift))
        rewards = 1 + torch.log_softmax(scores + shift, dim=1).gather(1, labels[:, None])[:, 0]
        (-(logs[labels] * rewards).mean()).backward()
        optimiser.step()
        scores, rewards = scores.detach(), rewards.detach()
        soft = torch.zeros(N_CLASSES, N_CLASSES).index_add_(0, labels, torch.softmax(scores, dim=1))
        pairs = labels * N_CLASSES + scores.argmax(dim=1)
        hard = torch.bincount(pairs, minlength=N_CLASSES**2).reshape(N_CLASSES, N_CLASSES)
        logistic = torch.zeros(N_CLASSES).index_add_(0, labels, rewards)
        return ConfusionSums(np.column_stack([soft, hard, logistic, counts]))

    return step
