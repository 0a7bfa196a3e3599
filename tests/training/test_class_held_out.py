"""How the weights of a model of several classes are compared on the rows held out."""

import numpy as np
import pytest

from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.training.class_held_out import ClassMonitor
from aesara_nondecomp.training.early_stopping import Interval
from aesara_nondecomp.training.run import TrainingRows

RNG = np.random.default_rng(0)
CODES = np.arange(300) % 3
NOISE = RNG.normal(size=(300, 3))
MODEST, CERTAIN = np.eye(3)[CODES] + 0.8 * NOISE, 30 * (np.eye(3)[CODES] + 0.5 * NOISE)  # which ranks better


@pytest.mark.parametrize(("plug_in", "best"), [("linearised", 1), ("offsets", 0), (None, 1)])
def test_a_network_that_is_too_certain_loses_only_where_offsets_are_chosen(plug_in, best):
    held = TrainingRows(NOISE, np.ones(300), None, CODES)
    monitor = ClassMonitor(held, multiclass.get("macro_f1"), Interval(10), None, False, 3, plug_in)
    found = [monitor.evaluated(scores, held.signs, None, CODES, 1) for scores in (MODEST, CERTAIN)]
    assert found[1].value > found[0].value and monitor.best_of(found) == best
