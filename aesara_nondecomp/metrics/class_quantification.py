"""Prevalences of K classes from a classifier, by the methods of `quantification`; with two classes they are equal.

- "acc" and "pacc" give the prevalences that explain the shares best, in least squares, by the rates of labelled rows;
- "sld" is the same expectation-maximisation, over K classes.

Source: docs/multiclass.md 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_vector
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.metrics.checks import checked_class_indices, checked_probabilities, checked_weights
from aesara_nondecomp.metrics.class_scores import ClassCalibration, class_confusion
from aesara_nondecomp.metrics.quantification import METHODS, adjusted_count, explained_shares

Array = NDArray[Any]
# Weights of two more rows of the least squares: shares sum to 1, and where rates leave a choice, the nearest is taken.
SUM_WEIGHT, NEAREST_WEIGHT = 1e2, 1e-4
_ARRAYS = "priors", "rates", "soft_rates"


def adjusted_shares(shares: Any, rates: Any) -> Array:
    """The prevalences p of K classes that solve shares = p rates, or come nearest to it in least squares.

    Parameters
    ----------
    shares : array-like, shape (K,)
        Mean prediction of each class on the new rows: of labels (acc) or of posteriors (pacc).
    rates : array-like, shape (K, K)
        The same means on the labelled rows of each class; each row sums to 1.

    Returns
    -------
    float64 array, shape (K,)
        At least 0, with the sum 1. Of several solutions the one nearest to `shares`. Of two classes that of
        `quantification.adjusted_count`.

    Raises
    ------
    ValueError
        If the shares or a row of the rates are below 0 or do not sum to 1, or the shapes do not fit.
    """
    rates = checked_probabilities(rates)
    n_classes = rates.shape[1]
    square = rates.shape == (n_classes, n_classes)
    require(square, "rates must have shape (K, K), a row and a column for each class", rates.shape)
    found = checked_probabilities(as_vector(shares, "shares")[None, :])[0]
    require(len(found) == n_classes, f"shares must be of {n_classes} classes", len(found))
    if n_classes == 2:
        positive = adjusted_count(min(found[1], 1.0), min(rates[1, 1], 1.0), min(rates[0, 1], 1.0))
        return np.array([1.0 - positive, positive])
    from scipy.optimize import nnls  # slow

    equations = np.vstack([rates.T, np.full((1, n_classes), SUM_WEIGHT), NEAREST_WEIGHT * np.eye(n_classes)])
    solution = nnls(equations, np.concatenate([found, [SUM_WEIGHT], NEAREST_WEIGHT * found]))[0]
    return np.asarray(solution / solution.sum())


@dataclass(frozen=True, eq=False)  # == of arrays is ambiguous
class ClassQuantifier:
    """What the methods need to know of a classifier of K classes; measure it with `ClassQuantifier.fit`.

    Attributes
    ----------
    priors : float64 array, shape (K,)
        Share of each class in the labelled rows, to which the posteriors are calibrated.
    rates : float64 array, shape (K, K)
        Fraction of the labelled rows of each class that are predicted as each class.
    soft_rates : float64 array, shape (K, K)
        Mean posteriors of the labelled rows of each class.
    networks : int, default 1
        Number of networks that were measured, each by itself. Their vote has other rates, so that of several networks
        "acc", "pacc" and "sld" take the predictions and posteriors of each.
    calibration : ClassCalibration, optional
        Of the scores of single networks, where `networks` is above 1. Default: that of the model.
    """

    priors: Array
    rates: Array
    soft_rates: Array
    networks: int = 1
    calibration: ClassCalibration | None = None

    @classmethod
    def fit(cls, predicted: Any, posteriors: Any, codes: Any, sample_weight: Any = None) -> ClassQuantifier:
        """Measure a classifier on labelled rows, preferably rows that it was not trained on.

        Parameters
        ----------
        predicted : array-like of int, shape (n,)
            Predicted classes, from 0 to K - 1.
        posteriors : array-like, shape (n, K)
            Calibrated probabilities; each row sums to 1.
        codes : array-like of int, shape (n,)
            True classes; each occurs.
        sample_weight : array-like, shape (n,), optional
            Weights of the rows, at least 0; only their ratios count.

        Returns
        -------
        ClassQuantifier

        Raises
        ------
        ValueError
            If the shapes do not fit, a class is none of the K, a row of the posteriors does not sum to 1, a weight is
            negative, or a class has no weight.
        """
        probabilities = checked_probabilities(posteriors)
        n, n_classes = probabilities.shape
        predicted = checked_class_indices("predicted", predicted, n_classes, n)
        codes = checked_class_indices("codes", codes, n_classes, n)
        weight = np.ones(n) if sample_weight is None else checked_weights(sample_weight, n)
        of_classes = np.bincount(codes, weight, minlength=n_classes)
        needed = "prevalences of K classes need labelled rows of each class"
        require(bool((of_classes > 0).all()), needed, f"weights of {of_classes.tolist()}")
        hard = class_confusion(codes, predicted, n_classes, weight)
        columns = [np.bincount(codes, weight * column, minlength=n_classes) for column in probabilities.T]
        soft = np.stack(columns, axis=1)
        return cls(of_classes / of_classes.sum(), hard / of_classes[:, None], soft / of_classes[:, None])

    def prevalence(self, predicted: Any, posteriors: Any, method: str = "cc") -> Array:
        """Estimated prevalences of the classes among rows.

        Parameters
        ----------
        predicted : array-like of int, shape (n,)
            Predicted classes of at least one row. Where `networks` is above 1, "acc", "pacc" and "sld" need those of
            every network, one after another; `ClassModel.prevalence_of_scores` makes them.
        posteriors : array-like, shape (n, K)
            Calibrated probabilities of the same.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See the top of `quantification`.

        Returns
        -------
        float64 array, shape (K,)
            At least 0, with the sum 1.

        Raises
        ------
        ValueError
            If the method is unknown (the nearest is suggested), or as in `fit`.
        """
        choose("method", method, dict.fromkeys(METHODS))
        probabilities, n_classes = checked_probabilities(posteriors), len(self.priors)
        needed = f"posteriors must be of {n_classes} classes"
        require(probabilities.shape[1] == n_classes, needed, probabilities.shape)
        if method == "sld":
            return explained_shares(np.ascontiguousarray(probabilities.T), self.priors)
        if method in ("cc", "acc"):
            classes = checked_class_indices("predicted", predicted, n_classes, len(probabilities))
            shares, rates = np.bincount(classes, minlength=n_classes) / len(classes), self.rates
        else:
            shares, rates = probabilities.mean(axis=0), self.soft_rates
        return adjusted_shares(shares, rates) if method in ("acc", "pacc") else np.asarray(shares)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        dict
            By field.
        """
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        calibration = None if self.calibration is None else self.calibration.as_list()
        return {**arrays, "networks": self.networks, "calibration": calibration}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ClassQuantifier:
        """The quantifier that `as_dict` described.

        Parameters
        ----------
        values : mapping
            Returned by `as_dict`.

        Returns
        -------
        ClassQuantifier
        """
        priors, rates, soft_rates = (np.array(values[name], dtype=np.float64) for name in _ARRAYS)
        found = values.get("calibration")  # former files lack it, and older ones the number of networks
        calibration = None if found is None else ClassCalibration.from_list(found)
        return cls(priors, rates, soft_rates, values.get("networks", 1), calibration)


def calibrated(
    scores: Array, predicted: Array, codes: Array, weight: Array | None = None
) -> tuple[ClassCalibration, ClassQuantifier]:
    """What labelled rows say of a classifier: its calibration, and the rates by which prevalences are adjusted.

    Parameters
    ----------
    scores : array, shape (n, K)
        Of the network.
    predicted : int array, shape (n,)
        Predicted classes.
    codes : int array, shape (n,)
        True ones; each class occurs.
    weight : array, shape (n,), optional
        Sample weights. Default: equal weights.

    Returns
    -------
    calibration : ClassCalibration
    quantifier : ClassQuantifier

    Raises
    ------
    ValueError
        As in `ClassQuantifier.fit`.
    """
    calibration = ClassCalibration.fit(scores, codes, weight)
    return calibration, ClassQuantifier.fit(predicted, calibration.probabilities(scores), codes, weight)
