"""Several classifiers as one: soft voting, for example of the best models of a search, or of a network and trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._checks import number, require
from aesara_nondecomp._names import lazy
from aesara_nondecomp.data import check_lengths, decode, encode_as
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.models.by_group import rows_of_measure, value_at_threshold
from aesara_nondecomp.models.model import Model

ROUNDING = 1e-6  # of probabilities in float32


class SoftVote:
    """The mean soft label of several classifiers, each relative to its own threshold.

    The soft label that a classifier gives a row is tanh(margin / 2): between -1 and 1, and 0 at the threshold, so that
    no classifier outvotes the others by the scale of its scores. The margin of a model is its score minus its
    threshold; of a model with a score for each of two classes it is the difference of the two, minus a threshold of 0.
    That of another classifier is the log-odds of its `predict_proba` minus those of its threshold; without
    `predict_proba`, its `decision_function` minus its threshold.

    Parameters
    ----------
    models : sequence
        At least one, fitted to the same two labels: a `Model`, a `ClassModel`, a `MeasureClassifier`, or any other
        classifier that has `classes_` and either `predict_proba` or `decision_function`. A pair (classifier, threshold)
        moves the threshold. Default: the model's own, a probability of 0.5, or a decision value of 0.
    measure : str or measures.Measure, optional
        What `value` computes. Default: what each `Model` was trained for; other classifiers do not say.
    positive : scalar, optional
        The positive label. Default: that of each `Model`; without one, the second of `classes_`.

    Attributes
    ----------
    models : list
        What was given.
    classes : tuple
        (negative, positive), in the coding of the training labels.
    measure : measures.Measure
        What `value` computes.

    Raises
    ------
    ValueError
        If there is no model, a classifier is not fitted, has not two classes or computes neither probabilities nor
        decisions, the classes differ, `positive` is not the models' or none of the labels, a threshold is out of range,
        the measure is unknown, or it is not given and the models do not say it or differ in it.

    Notes
    -----
    A pipeline or a search around a `MeasureClassifier` votes by its calibrated probabilities, which do not follow the
    measure: pass the `MeasureClassifier` inside, or a pair with a threshold. A vote does not see the threshold of
    scikit-learn's `FixedThresholdClassifier` or `TunedThresholdClassifierCV`: pass a pair, such as
    ``(tuned.estimator_, tuned.best_threshold_)``.
    """

    def __init__(
        self, models: Sequence[Any], measure: measures.Measure | str | None = None, *, positive: Any = None
    ) -> None:
        listed = isinstance(models, Iterable) and not isinstance(models, (str, Mapping))
        require(listed, "a vote needs a list of classifiers", models)
        self.models = list(models)
        require(len(self.models) > 0, "a vote needs at least one model", models)
        members = [_Member.of(given) for given in self.models]
        self.classes = _common_classes(members, positive)
        self.measure = _common_measure(members) if measure is None else measures.get(measure)

    def decision_function(self, X: Any) -> NDArray[np.floating[Any]]:
        """Compute the mean soft label of each row.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as all the classifiers take them.

        Returns
        -------
        array, shape (n,)
            In [-1, 1]; a row above 0 is predicted positive.

        Raises
        ------
        ValueError
            If a classifier cannot use `X`, or answers with what are no probabilities or decisions of its rows.
        """
        members = [_Member.of(given) for given in self.models]
        labels = [member.soft_labels(X, self.classes[1]) for member in members]
        counts = [len(own) for own in labels]
        require(len(set(counts)) == 1, "all classifiers of a vote must answer for the same rows", counts)
        return np.asarray(np.mean(labels, axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as all the classifiers take them.

        Returns
        -------
        array, shape (n,)
            Labels, in the coding of the training labels.

        Raises
        ------
        ValueError
            If a classifier cannot use `X`.
        """
        return decode(np.where(self.decision_function(X) > 0, 1, -1), self.classes)

    def value(self, X: Any, y: Any, measure: measures.Measure | str | None = None, *, groups: Any = None) -> float:
        """Compute a measure on hard predictions.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as all the classifiers take them.
        y : array-like, shape (n,)
            Their labels, in the coding of the training labels.
        measure : measures.Measure or str, optional
            Another measure than the vote's own.
        groups : array-like of shape (n,) or table, optional
            The group of each row, which measures such as "worst_cell" need, and no others take.

        Returns
        -------
        float
            In the measure's own orientation.

        Raises
        ------
        ValueError
            If a classifier cannot use `X`, if `y` has another length or an unknown label, or if groups are needed and
            missing.
        """
        measure = self.measure if measure is None else measures.get(measure)
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        rows = rows_of_measure(measure, signs, groups)
        return value_at_threshold(measure, self.decision_function(X), signs, 0.0, rows)


class _Member(NamedTuple):
    """A classifier of a vote, and its threshold; None for its own."""

    classifier: Any
    threshold: float | None

    @classmethod
    def of(cls, given: Any) -> _Member:
        """A member from a classifier or a pair (classifier, threshold)."""
        is_pair = isinstance(given, (tuple, list))
        require(not is_pair or len(given) == 2, "a vote takes classifiers and pairs (classifier, threshold)", given)
        classifier, threshold = given if is_pair else (given, None)
        model = getattr(classifier, "model_", classifier)  # of a MeasureClassifier
        if isinstance(model, Model):
            classifier = model
        elif _has_two_scores(model):
            classifier = _TwoScores(model)
        member = cls(classifier, threshold)
        member._check()
        return member

    def _check(self) -> None:
        if not isinstance(self.classifier, Model):
            _check_classifier(self.classifier)
        if self.threshold is not None:
            cut = number("the threshold of a classifier in a vote", self.threshold)
            inside = 0 < cut < 1 or not self._has_probabilities()
            require(inside and cut == cut, "a threshold on probabilities must lie in (0, 1), others be numbers", cut)

    def _has_probabilities(self) -> bool:
        return not isinstance(self.classifier, Model) and hasattr(self.classifier, "predict_proba")

    def classes(self) -> tuple[Any, ...]:
        """The labels: (negative, positive) of a model, those of another classifier in its own order."""
        if isinstance(self.classifier, Model):
            return tuple(self.classifier.classes)
        return tuple(np.asarray(self.classifier.classes_).tolist())

    def soft_labels(self, X: Any, positive: Any) -> NDArray[Any]:
        """tanh(margin / 2) of each row."""
        if self._has_probabilities():
            share = self._answers("predict_proba", X, ndim=2)[:, self.classes().index(positive)]
            cut = 0.5 if self.threshold is None else self.threshold
            # This is tanh of half the difference of the log-odds, which are infinite for a share of 0 or 1.
            above, below = share * (1.0 - cut), cut * (1.0 - share)
            return np.asarray((above - below) / (above + below))
        own = self.classifier.threshold if isinstance(self.classifier, Model) else 0.0
        cut = own if self.threshold is None else self.threshold
        scores = self._answers("decision_function", X, ndim=1)  # of the second class
        return np.asarray(np.tanh(((scores if self.classes()[1] == positive else -scores) - cut) / 2))

    def _answers(self, method: str, X: Any, ndim: int) -> NDArray[Any]:
        """What a method of the classifier returns: numbers, and of probabilities two columns in [0, 1]."""
        found = as_floats(getattr(self.classifier, method)(X), method)
        whose = f"{method} of {type(self.classifier).__name__}"
        shaped = found.ndim == ndim and found.shape[1:] in ((), (2,))
        require(shaped, f"{whose} must have shape {'(n,)' if ndim == 1 else '(n, 2)'}", found.shape)
        require(not np.isnan(found).any(), f"{whose} must be numbers", "NaN")
        if ndim == 1:
            return found
        inside = bool((found >= -ROUNDING).all() and (found <= 1 + ROUNDING).all())
        require(inside, f"{whose} must lie in [0, 1]", found[:1].tolist())
        return np.clip(found, 0.0, 1.0)


class _TwoScores:
    """A ClassModel of two labels as a classifier by the difference of its scores, as probabilities do not follow it."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_

    def decision_function(self, X: Any) -> NDArray[Any]:
        scores = self.model.decision_function(X)
        return np.asarray(scores[:, 1] - scores[:, 0])


def _has_two_scores(model: Any) -> bool:
    from aesara_nondecomp.models.class_model import ClassModel  # slow, and most labels are of two classes

    return isinstance(model, ClassModel) and len(model.classes) == 2


def _check_classifier(classifier: Any) -> None:
    """Raise ValueError for what a vote cannot use."""
    name = type(classifier).__name__
    fitted = hasattr(classifier, "classes_")
    require(fitted, "a vote needs fitted classifiers, which have the attribute classes_: call fit first", name)
    classes = np.asarray(classifier.classes_)
    require(classes.shape == (2,), f"a vote needs classifiers of two classes: {name} has others", classes.tolist())
    of_labels = hasattr(getattr(classifier, "model_", None), "labels") or getattr(classifier, "multilabel_", False)
    require(not of_labels, "a vote needs classifiers of one label a row", name)
    scores = hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")
    require(scores, "a vote needs classifiers with predict_proba or decision_function", name)


def _common_classes(members: Sequence[_Member], positive: Any) -> tuple[Any, Any]:
    """(negative, positive), on which all members must agree; the models fix which is which."""
    of_models = {member.classes() for member in members if isinstance(member.classifier, Model)}
    labels = {frozenset(member.classes()) for member in members}
    if len(of_models) > 1 or len(labels) > 1:
        found = ", ".join(sorted({str(member.classes()) for member in members}))
        raise ValueError(f"the models of a vote must agree on their classes, got {found}")
    negative, last = next(iter(of_models), members[0].classes())
    if positive is None or positive == last:
        return negative, last
    require(positive == negative, f"positive must be one of the labels {negative!r} and {last!r}", positive)
    require(not of_models, f"the models of the vote have the positive label {last!r}: leave positive out", positive)
    return last, negative


def _common_measure(members: Sequence[_Member]) -> measures.Measure:
    """The measure on which all models must agree."""
    found = [member.classifier.measure for member in members if isinstance(member.classifier, Model)]
    if not found:
        raise ValueError("a vote without a model of this package needs measure=, such as 'f1'.")
    names = sorted({identity(measure) for measure in found})
    require(len(names) == 1, "the models of a vote must agree on their measure, or be given one", ", ".join(names))
    return found[0]


__getattr__, __dir__ = lazy(__name__, {}, former={"Vote": "SoftVote"})
