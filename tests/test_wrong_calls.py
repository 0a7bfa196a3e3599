"""2,000 wrong calls of everything public: each gets one error that names an argument, before anything is compiled."""

from __future__ import annotations

import contextlib
import io
import math
import os
import time
import warnings
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from test_bad_input_estimators import untrained  # noqa: E402
from wrong_values import BAD, SCORES, SIGNS, TEXTS, X, Y  # noqa: E402

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp import data, drivers, measures, metrics, networks  # noqa: E402
from aesara_nondecomp._checks import shown  # noqa: E402
from aesara_nondecomp.cli.main import main  # noqa: E402
from aesara_nondecomp.data.groups import read_groups  # noqa: E402
from aesara_nondecomp.metrics import bootstrap, calibration, multiclass, prevalence_shift, quantification  # noqa: E402

CALLS = 2000
TRAIN = {
    "data": "file", "--out": "output", "--target": "column", "--positive": "label", "--categorical": "column",
    "--measure": "measure", "--steps": "count", "--batch-size": "count", "--learning-rate": "positive",
    "--averaging": "part", "--l2": "not negative", "--sampler": "share", "--prior": "share", "--dropout": "part",
    "--optimizer": "name", "--schedule": "name", "--algorithm": "name", "--network": "name", "--backend": "name",
    "--activation": "name", "--hidden": "widths", "--patience": "count", "--validation": "validation",
    "--seed": "seed", "--report": "output", "--groups": "column", "--constraint": "measure",
}  # fmt: skip
COMMANDS = {
    "train": TRAIN,
    "predict": {"model": "model", "data": "file", "--out": "output"},
    "evaluate": {"model": "model", "data": "file", "--out": "output", "--target": "column", "--draws": "count",
                 "--seed": "seed", "--groups": "column", "--html": "output"},
    "compare": {"model": "model", "other": "model", "data": "file", "--out": "output", "--html": "output",
                "--target": "column", "--draws": "count", "--seed": "seed"},
    "quantify": {"model": "model", "data": "file", "--out": "output"},
}  # fmt: skip
DEFAULTS = {
    "model": "model.npz",
    "other": "model.npz",
    "data": "rows.csv",
    "--target": "y",
    "--out": "out",
    "--steps": "3",
}

# -- what is called, and what each argument takes ----------------------------------------------------------------------

F1 = measures.get("f1")
QUANTIFIER = metrics.Quantifier.fit(SCORES, SIGNS, 0.0)
MATRIX = metrics.ConfusionMatrix(30, 20, 25, 40)
TRAINING = {
    "algorithm": "name", "steps": "count", "batch_size": "count", "learning_rate": "positive", "schedule": "schedule",
    "averaging": "part", "l2": "not negative", "sampler": "share", "standardize": "flag", "prior": "share",
    "validation": "validation", "checkpoint": "path", "comm": "comm", "backend": "name",
}  # fmt: skip


@contextlib.contextmanager
def in_folder(folder):
    """Files for the command line, by which its table of arguments goes."""
    header = "a,b,c,y\n" + "".join(f"{row[0]},{row[1]},{row[2]},{int(label)}\n" for row, label in zip(X, Y))
    (folder / "rows.csv").write_text(header)
    (folder / "empty.csv").write_text("")
    (folder / "junk.bin").write_bytes(bytes(range(256)) * 8)
    table = data.InputEncoder(table=data.TableEncoder(("a", "b", "c"), (0.0,) * 3, (), ()))
    replace(untrained().model_, encoder=table, extra={"target": "y"}).save(folder / "model.npz")
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def command(name, kinds):
    """The command line as a function, which raises a ValueError of the one line that it prints."""

    def run(**arguments):
        given = {**{key: value for key, value in DEFAULTS.items() if key in kinds}, **arguments}
        places = [value for key, value in given.items() if not key.startswith("--")]
        options = [part for key, value in given.items() if key.startswith("--") for part in (f"{key}={value}",)]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main([name, *places, *options])
            except SystemExit as stopped:
                status = stopped.code
        lines = [line for line in err.getvalue().splitlines() if "warning:" not in line]
        if status == 1 and len(lines) == 1 or status == 2 and "error:" in lines[-1]:
            raise ValueError(lines[-1])
        return status, lines

    return run


def quiet_fit(**arguments):
    return an.fit(**{"X": X, "y": Y, "steps": 3, "progress": False, **arguments})


def estimator(**arguments):
    given = {"X": X, "y": Y, "sample_weight": None, "validation_groups": None}
    data_ = {name: arguments.pop(name, default) for name, default in given.items()}
    return an.MeasureClassifier(**{"steps": 3, **arguments}).fit(**data_)


def partly(**arguments):
    given = {"X": X, "y": Y, "sample_weight": None, "classes": None}
    data_ = {name: arguments.pop(name, default) for name, default in given.items()}
    return an.MeasureClassifier(**arguments).partial_fit(**data_)


def score(**arguments):
    return untrained().score(**{"X": X, "y": Y.astype(int), **arguments})


def calibrate(**arguments):
    return untrained().model_.calibrate(**{"X": X, "y": Y.astype(int), **arguments})


def of(function, **defaults):
    """The function with arguments that are right, but for those given."""
    return lambda **arguments: function(**{**defaults, **arguments})


def driver(kind, **defaults):
    return of(kind, **{"measure": defaults.pop("measure", "qmean"), "prior": 0.3, **defaults})


ADAPTIVE = {"measure": "name", "prior": "share", "reward": "name", "counts": "flag", "evaluate": "name",
            "eps": "not negative", "forgetting": "positive"}  # fmt: skip
DATA = {"X": "rows", "y": "labels", "sample_weight": "weights", "validation_groups": "groups"}
CALLED = {
    "fit": (quiet_fit, {**TRAINING, **DATA, "measure": "name", "network": "network", "optimizer": "name",
                        "positive": "label", "on_step": "callables", "progress": "flag", "seed": "seed"}),
    "MeasureClassifier.fit": (estimator, {**TRAINING, **DATA, "measure": "name", "hidden": "widths",
                                          "activation": "name", "dropout": "part", "optimizer": "name",
                                          "patience": "count", "tune_threshold": "tuned", "refit": "flag",
                                          "pos_label": "label", "dtype": "name", "warm_start": "flag",
                                          "resume": "flag", "on_step": "callables", "random_state": "seed"}),
    "MeasureClassifier.partial_fit": (partly, {
        "X": "rows", "y": "labels", "sample_weight": "weights", "algorithm": "name", "batch_size": "count",
        "learning_rate": "positive", "averaging": "part", "l2": "not negative", "sampler": "share", "prior": "share",
        "measure": "name", "pos_label": "label", "random_state": "seed"}),
    "Quantifier.fit": (of(metrics.Quantifier.fit, scores=SCORES, signs=SIGNS), {
        "scores": "scores", "signs": "signs", "threshold": "number", "sample_weight": "weights"}),
    "Quantifier.prevalence": (of(QUANTIFIER.prevalence, scores=SCORES), {"scores": "scores", "method": "name"}),
    "Calibration.fit": (of(calibration.Calibration.fit, scores=SCORES, signs=SIGNS), {
        "scores": "scores", "signs": "signs", "sample_weight": "weights"}),
    "classify_and_count": (quantification.classify_and_count, {"predicted_positive": "predictions"}),
    "probabilistic_count": (quantification.probabilistic_count, {"posteriors": "posteriors"}),
    "adjusted_count": (of(quantification.adjusted_count, share=0.4, of_positives=0.9, of_negatives=0.1), dict.fromkeys(
        ("share", "of_positives", "of_negatives"), "part")),
    "expectation_maximisation": (of(quantification.expectation_maximisation, posteriors=[0.2, 0.9], prior=0.3), {
        "posteriors": "posteriors", "prior": "share", "max_rounds": "count", "tolerance": "positive"}),
    "confusion_matrix": (of(metrics.confusion_matrix, y_true_signs=SIGNS, predicted_signs=SIGNS), {
        "y_true_signs": "signs", "predicted_signs": "signs", "sample_weight": "weights"}),
    "confusion_at_threshold": (of(metrics.confusion_at_threshold, scores=SCORES, signs=SIGNS), {
        "scores": "scores", "signs": "signs", "threshold": "number", "sample_weight": "weights"}),
    "score": (of(metrics.score, measure="f1", confusion=MATRIX), {"measure": "name", "confusion": "confusion"}),
    "report": (of(metrics.report, confusion=MATRIX), {"confusion": "confusion", "measures": "several"}),
    "best_threshold": (of(metrics.best_threshold, measure="f1", scores=SCORES, signs=SIGNS), {
        "measure": "name", "scores": "scores", "signs": "signs", "sample_weight": "weights"}),
    "steady_threshold": (of(metrics.steady_threshold, measure="f1", scores=SCORES, signs=SIGNS), {
        "measure": "name", "scores": "scores", "signs": "signs", "sample_weight": "weights", "seed": "seed"}),
    "bootstrap_difference": (
        of(bootstrap.bootstrap_difference, y_true_signs=SIGNS, first=SIGNS, second=-SIGNS, n_resamples=5), {
            "y_true_signs": "signs", "first": "signs", "second": "signs", "measures": "several",
            "n_resamples": "count", "confidence_level": "share", "seed": "seed"}),
    "bootstrap": (of(bootstrap.bootstrap, confusion=MATRIX, n_resamples=5), {
        "confusion": "confusion", "measures": "several", "n_resamples": "count", "confidence_level": "share",
        "seed": "seed"}),
    "averaged_value": (of(multiclass.averaged_value, measure="f1", y_true=SIGNS, y_predicted=SIGNS), {
        "measure": "name", "average": "name"}),
    "prevalence_errors": (of(prevalence_shift.prevalence_errors, true=0.5, estimate=0.5, eps=0.1), {
        "true": "proportions", "estimate": "proportions", "eps": "positive"}),
    "artificial_prevalences": (of(prevalence_shift.artificial_prevalences, signs=SIGNS, sample_size=5), {
        "signs": "signs", "sample_size": "count", "grid": "count", "repeats": "count", "seed": "seed"}),
    "prevalence_shift": (of(prevalence_shift.prevalence_shift, scores=SCORES, signs=SIGNS, estimators={}), {
        "scores": "scores", "signs": "signs", "estimators": "function", "sample_size": "count", "seed": "seed"}),
    "estimators": (of(prevalence_shift.estimators, quantifier=QUANTIFIER, training_prior=0.5), {
        "quantifier": "function", "training_prior": "share"}),
    "RunningRates": (metrics.RunningRates, {"reward": "name", "forgetting": "positive"}),
    "Measure.value": (of(F1.value, P=0.5, N=0.5, prior=0.3), {"P": "rates", "N": "rates", "prior": "share"}),
    "Measure.from_counts": (of(F1.from_counts, TP=3, FN=2, FP=1, TN=4), dict.fromkeys(
        ("TP", "FN", "FP", "TN"), "counts")),
    "Constraint": (of(measures.Constraint, rate="tpr", bound=0.1, kind="gap"), {
        "rate": "name", "bound": "part", "kind": "name"}),
    "share": (of(an.share), {"at_least": "part"}),
    "parse_constraint": (measures.parse_constraint, {"text": "name"}),
    "read_groups": (of(read_groups, n_rows=60), {"groups": "groups"}),
    "measures.get": (of(measures.get, spec="f1"), {"spec": "name"}),
    "fbeta": (of(measures.get, spec="fbeta"), {"beta": "positive"}),
    "weighted_accuracy": (of(measures.get, spec="weighted_accuracy"), {"c": "not negative"}),
    "concave": (of(measures.concave, name="mine", value=lambda P, N, p: P, supergradient=lambda P, N, p: (1, 0)), {
        "value": "function", "supergradient": "function", "greater_is_better": "flag"}),
    "pseudolinear": (of(measures.pseudolinear, name="mine", a=(0, 1, 1), b=(2, 0, 0)), {
        "a": "coefficients", "b": "coefficients"}),
    "check_concave": (of(measures.check_concave, measure=measures.get("qmean")), {
        "measure": "function", "priors": "posteriors", "seed": "seed"}),
    "DUPLE": (driver(drivers.DUPLE), {**ADAPTIVE, "dual": "name", "cap": "positive", "dual_rate": "positive"}),
    "DENIM": (driver(drivers.DENIM, measure="kld"), {**ADAPTIVE, "cap": "positive"}),
    "DAME": (driver(drivers.DAME, measure="f1"), {**ADAPTIVE, "inner_steps": "count", "round_rows": "count"}),
    "ClassWeighted": (of(drivers.ClassWeighted, prior=0.3), {"prior": "share", "positive": "share"}),
    "CrossEntropy": (drivers.CrossEntropy, {"prior": "share"}),
    "StructANN": (of(drivers.StructANN, measure="f1"), {"measure": "name", "C": "positive", "score_scale": "positive"}),
    "DirectLoss": (of(drivers.DirectLoss, measure="f1"), {
        "measure": "name", "epsilon": "positive", "direction": "name", "score_scale": "positive"}),
    "Mix": (of(drivers.Mix, inner=drivers.CrossEntropy(0.3), anchor=drivers.CrossEntropy(0.3)), {
        "inner": "function", "anchor": "function", "share": "not negative"}),
    "FixedWeights": (drivers.FixedWeights, {"weights": "four"}),
    "mlp": (of(networks.mlp, n_features=3), {
        "n_features": "count", "hidden": "widths", "activation": "name", "dropout": "part", "dtype": "name",
        "initialisation": "name", "seed": "seed"}),
    "encode_labels": (of(data.encode_labels, y=Y), {"y": "labels", "positive": "label"}),
    "check_features": (of(data.check_features, X=X, columns=3), {"X": "rows"}),
    "stratified_split": (of(data.stratified_split, signs=SIGNS), {
        "signs": "signs", "held_out": "share", "seed": "seed", "groups": "groups"}),
    "stratified_folds": (of(data.stratified_folds, signs=SIGNS, folds=2), {
        "signs": "signs", "folds": "count", "seed": "seed"}),
    "MiniBatches": (of(data.MiniBatches, X=X, signs=SIGNS, batch_size=8, seed=0), {
        "batch_size": "count", "sampler": "share", "sample_weight": "weights", "seed": "seed"}),
    "MeasureClassifier.score": (score, {"X": "rows", "y": "labels", "sample_weight": "weights"}),
    "Model.calibrate": (calibrate, {"X": "rows", "y": "labels", "sample_weight": "weights"}),
    "EarlyStopping": (an.EarlyStopping, {
        "every": "count", "patience": "count", "tune_threshold": "tuned", "refit": "flag"}),
    "measure_scorer": (of(an.measure_scorer, measure="f1"), {"measure": "name", "zero_division": "number"}),
}  # fmt: skip
CALLED.update({name: (command(name, kinds), {argument: f"text of a {kind}" for argument, kind in kinds.items()})
               for name, kinds in COMMANDS.items()})  # fmt: skip
BAD.update({f"text of a {kind}": texts for kind, texts in TEXTS.items()})
# Words that stand for an argument in messages, where its name does not.
WORDS = {
    "X": ("X", "features", "rows", "table", "column", "texts"),
    "y": ("y", "labels", "target"),
    "signs": ("signs", "labels"),
    "spec": ("measure",),
    "at_least": ("at_least", "selection"),
    "text": ("constraint",),
    "measures": ("measure",),
    "optimizer": ("optimi",),
    "network": ("network", "width", "texts"),
    "pos_label": ("positive", "pos_label"),
    "validation": ("validation", "features", "labels", "folds", "row"),
    "validation_groups": ("groups",),
    "value": ("value", "mine"),
    "priors": ("prior",),
    "a": ("coefficients", "mine"),
    "b": ("coefficients", "mine"),
    "sample_weight": ("sample_weight", "Sample weights"),
    "data": ("missing.csv", "empty.csv", "junk.bin"),
    "model": ("file", "folder", "directory", "missing"),
    "other": ("file", "folder", "directory", "missing"),
    "--target": ("column", "labels"),
    "--positive": ("label",),
    "--categorical": ("column",),
    "--out": ("folder", "file"),
    "--report": ("folder", "file"),
    "--html": ("folder", "file"),
}
# Arguments that may be None.
OPTIONAL = {
    "steps", "schedule", "l2", "averaging", "learning_rate", "prior", "sample_weight", "validation", "positive",
    "validation_groups", "pos_label", "patience", "progress", "measures", "threshold", "backend", "cap", "dual_rate",
    "inner_steps", "round_rows", "every", "optimizer", "groups",
}  # fmt: skip
OF_ANY_LENGTH = {
    "Quantifier.prevalence", "encode_labels", "check_features", "stratified_split", "stratified_folds",
    "artificial_prevalences",
}  # fmt: skip


def is_right(name, argument, value):
    """Whether a wrong value of its kind is a right one here."""
    if value is None:
        return argument in OPTIONAL
    if isinstance(value, np.ndarray) and len(value) == 40:
        return name in OF_ANY_LENGTH and argument != "groups"
    if name == "read_groups":  # values may be missing, and all of one group
        return isinstance(value, (list, np.ndarray)) and len(value) == 60 and np.ndim(value) == 1
    if argument == "y" and name in ("MeasureClassifier.score", "Model.calibrate"):
        return isinstance(value, np.ndarray) and value.dtype == float and not value.any()
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        bounds = {("weighted_accuracy", "c"), ("Mix", "share"), ("Constraint", "bound"), ("share", "at_least")}
        return name == "adjusted_count" or (name, argument) in bounds
    if isinstance(value, (float, Decimal)) and math.isnan(value):
        return argument == "zero_division"
    return False


def words_for(argument):
    """Words of which an error must use one."""
    if argument.startswith("--"):
        name = argument[2:].replace("-", "_")
        return (argument, name, *WORDS.get(argument, ()), *WORDS.get(name, ()))
    return WORDS.get(argument, (argument,))


def wrong_calls():
    rng = np.random.default_rng(7)
    names = list(CALLED)
    weights = np.array([6.0 if name in ("fit", "MeasureClassifier.fit", "train") else 1.0 for name in names])
    while True:
        name = names[rng.choice(len(names), p=weights / weights.sum())]
        function, kinds = CALLED[name]
        count = min(len(kinds), 1 + int(rng.random() < 0.2))
        arguments = {}
        for argument in rng.choice(list(kinds), count, replace=False):
            values = BAD[kinds[argument]]
            value = values[rng.integers(len(values))]
            if not is_right(name, argument, value):
                arguments[str(argument)] = value
        short = sum(isinstance(value, np.ndarray) and len(value) == 40 for value in arguments.values())
        if arguments and short < 2:  # two of them would fit each other
            yield name, function, arguments


def outcome(function, arguments):
    """What is wrong with a wrong call's outcome; "" if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(**arguments)
        return f"returned {shown(result)}"[:100]
    except (ValueError, TypeError) as error:
        if " at 0x" in str(error) and "Expected 2D array" not in str(error):  # which is scikit-learn's own
            return f"shows an address in memory: {error}"[:300]
        words = [word for argument in arguments for word in words_for(argument)]
        return (
            ""
            if any(word in str(error) for word in words)
            else f"does not name it: {type(error).__name__}: {error}"[:300]
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


def test_2000_wrong_calls_get_an_error_each_that_names_an_argument(nothing_may_be_compiled, tmp_path):
    faults, started = {}, time.perf_counter()
    with in_folder(tmp_path):
        for name, function, arguments in islice(wrong_calls(), CALLS):
            fault = outcome(function, arguments)
            if not fault:
                continue
            faults[f"{name}({', '.join(f'{k}={shown(v):.60}' for k, v in arguments.items())})"] = fault
    assert not faults, "\n".join(f"{call}: {fault}" for call, fault in faults.items())
    assert time.perf_counter() - started < 60
