"""The script whose start is timed does what it is timed for."""

from benchmarks import coldstart


def test_the_timed_script_makes_one_step_of_one_network():
    names = {}
    exec(coldstart.FIRST_STEP, names)
    assert len(names["model"].history) == 1 and not names["model"].voters
