"""Class prevalences from a classifier: counts, adjusted counts, and expectation-maximisation. NumPy only.

- `classify_and_count` ("cc") is biased whenever the error rates are not balanced;
- `adjusted_count` ("acc", "pacc") corrects that bias by the rates measured on labelled rows;
- `probabilistic_count` ("pcc") averages calibrated posteriors;
- `expectation_maximisation` ("sld") adjusts the prior behind the posteriors until it explains the new rows.

A `Quantifier` holds what the five methods need, measured on labelled rows.

Source: Forman 2008 (cc, acc); Bella et al. 2010 (pcc, pacc); Saerens, Latinne and Decaestecker 2002 (sld).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_vector, check_vector
from aesara_nondecomp._checks import choose, number, positive_int, positive_number, require, share
from aesara_nondecomp._numeric import vote
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.checks import checked_labelled_scores, checked_network_scores, checked_threshold

METHODS = ("cc", "acc", "pcc", "pacc", "sld")
COUNTED = ("cc", "acc")  # by predictions, at one threshold
ADJUSTED = ("acc", "pacc", "sld")  # by what was measured on labelled rows
Array = NDArray[Any]


def classify_and_count(predicted_positive: Any) -> float:
    """Fraction of rows predicted positive.

    Parameters
    ----------
    predicted_positive : array-like of bool, shape (n,)
        Predictions of at least one row; also 0 and 1, or -1 and +1.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        On another shape, without rows, or for other values, such as probabilities, which `probabilistic_count` takes.
    """
    array = as_array(predicted_positive, "predicted_positive")
    check_vector(array, "predicted_positive")
    if array.dtype != bool:
        array = as_vector(array, "predicted_positive")
        strange = array[~np.isin(array, (-1.0, 0.0, 1.0))]
        needed = "predicted_positive must hold predictions, True and False: count probabilities by probabilistic_count"
        require(not strange.size, needed, strange[:3].tolist())
    return float(np.mean(array > 0))


def adjusted_count(share: float, of_positives: float, of_negatives: float) -> float:
    """The prevalence p that solves share = p of_positives + (1 - p) of_negatives, clipped to [0, 1].

    Parameters
    ----------
    share : float
        Mean prediction on the new rows, in [0, 1]: of labels (acc) or of posteriors (pacc).
    of_positives : float
        The same mean on labelled positives, in [0, 1]: the true positive rate.
    of_negatives : float
        The same mean on labelled negatives, in [0, 1]: the false positive rate.

    Returns
    -------
    float
        In [0, 1]; `share` itself where there is no solution, for a classifier that cannot tell the classes apart (equal
        rates) or does worse than chance.

    Raises
    ------
    ValueError
        If an argument is no number in [0, 1].
    """
    given = {"share": share, "of_positives": of_positives, "of_negatives": of_negatives}
    share, of_positives, of_negatives = (_proportion(name, value) for name, value in given.items())
    gain = of_positives - of_negatives
    if not gain > 1e-9:
        return share
    return float(np.clip((share - of_negatives) / gain, 0.0, 1.0))


def probabilistic_count(posteriors: Any) -> float:
    """Mean posterior probability of the positive class.

    Parameters
    ----------
    posteriors : array-like, shape (n,)
        Probabilities of at least one row, in [0, 1].

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        On another shape, without rows, or if a posterior is outside [0, 1].
    """
    return float(np.mean(_posteriors(posteriors)))


def expectation_maximisation(posteriors: Any, prior: float, max_rounds: int = 1000, tolerance: float = 1e-6) -> float:
    """The prevalence that equals the mean of the posteriors re-weighted to it.

    Parameters
    ----------
    posteriors : array-like, shape (n,)
        Probabilities of at least one row, in [0, 1].
    prior : float
        Fraction of positives that the posteriors are calibrated to, in (0, 1).
    max_rounds : int, default 1000
        Largest number of iterations of three rounds each; the last estimate is returned if they do not converge.
    tolerance : float, default 1e-6
        Change of the estimate below which the iterations have converged.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As in `probabilistic_count`, or if `prior`, `max_rounds` or `tolerance` is out of range.
    """
    posteriors, prior = _posteriors(posteriors), share("prior", prior)
    max_rounds, tolerance = positive_int("max_rounds", max_rounds), positive_number("tolerance", tolerance)
    pair = np.stack([1 - posteriors, posteriors]), np.array([1 - prior, prior])
    return float(explained_shares(*pair, max_rounds, tolerance)[1])


def explained_shares(posteriors: Array, priors: Array, max_rounds: int = 1000, tolerance: float = 1e-6) -> Array:
    """The prevalences of K classes that equal the means of the posteriors re-weighted to them.

    Parameters
    ----------
    posteriors : float64 array, shape (K, n)
        Probabilities of at least one row; each column sums to 1.
    priors : float64 array, shape (K,)
        Class shares that they are calibrated to, above 0.
    max_rounds : int, default 1000
        As in `expectation_maximisation`.
    tolerance : float, default 1e-6
        As in `expectation_maximisation`, of each estimate.

    Returns
    -------
    float64 array, shape (K,)
        In [0, 1].
    """
    estimate = priors
    once, _ = _reweighted(posteriors, priors, estimate)
    for _ in range(max_rounds):
        twice, _ = _reweighted(posteriors, priors, once)
        further = _extrapolated(estimate, once, twice)
        found = [(*_reweighted(posteriors, priors, shares), shares) for shares in (further, twice)]
        before = estimate
        once, _, estimate = max(found, key=lambda each: each[1])
        if np.abs(estimate - before)[1:].max() < tolerance:
            break
    return np.asarray(np.clip(once, 0.0, 1.0))


def _reweighted(posteriors: Array, priors: Array, shares: Array) -> tuple[Array, float]:
    """The means of the posteriors re-weighted to some shares, and the mean log-likelihood of these shares."""
    weighted = posteriors * (shares / priors)[:, None]
    sums = np.maximum(weighted.sum(axis=0), 1e-300)
    rest = (weighted[1:] / sums).mean(axis=1)
    return np.append(1.0 - rest.sum(), rest), float(np.log(sums).mean())


def _extrapolated(start: Array, once: Array, twice: Array) -> Array:
    """Where two rounds lead to (SQUAREM, Varadhan and Roland 2008): of useless classifiers a round moves little."""
    step, bend = once - start, twice - 2.0 * once + start
    sizes = float(np.abs(step).max()), float(np.abs(bend).max())
    if sizes[1] == 0.0:
        return twice
    length = max(sizes[0] / sizes[1], 1.0)
    further = np.maximum(start + 2.0 * length * step + length**2 * bend, 0.01 * twice)  # no share gets stuck at 0
    return np.asarray(further / further.sum())


class Quantifier(NamedTuple):
    """What the methods need to know of a classifier; measure it with `Quantifier.fit`.

    Attributes
    ----------
    threshold : float
        A row is predicted positive iff its score exceeds it.
    calibration : Calibration
        From scores to posteriors.
    prior : float
        Fraction of positives of the labelled rows, to which the posteriors are calibrated.
    tpr : float
        Fraction of the labelled positives that are predicted positive.
    fpr : float
        Fraction of the labelled negatives that are predicted positive.
    soft_tpr : float
        Mean posterior of the labelled positives.
    soft_fpr : float
        Mean posterior of the labelled negatives.
    of_networks : Quantifier, optional
        Where several networks vote, the same of their single scores. A vote has other rates, which can only be
        estimated where each row is held out from one network alone; so "acc", "pacc" and "sld" are more accurate from
        the scores of each network.
    """

    threshold: float
    calibration: Calibration
    prior: float
    tpr: float
    fpr: float
    soft_tpr: float
    soft_fpr: float
    of_networks: Quantifier | None = None

    @classmethod
    def fit(cls, scores: Any, signs: Any, threshold: float | None = None, sample_weight: Any = None) -> Quantifier:
        """Measure a classifier on labelled rows, preferably rows that it was not trained on.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Finite scores.
        signs : array-like, shape (n,)
            Labels in {-1, +1}, of both classes.
        threshold : float, optional
            A row is predicted positive iff its score exceeds it. Default: 0, with a warning if all scores lie in
            [0, 1], as probabilities do.
        sample_weight : array-like, shape (n,), optional
            Weights of the rows, at least 0; only their ratios count, as in `confusion_matrix`.

        Returns
        -------
        Quantifier
            Plain numbers.

        Raises
        ------
        ValueError
            As in `Calibration.fit`, or if `threshold` is no number.
        """
        scores, signs, weight = checked_labelled_scores(scores, signs, sample_weight)
        threshold = checked_threshold(threshold, scores)
        calibration = Calibration.fit(scores, signs, weight)
        hard, soft = scores > threshold, calibration.posteriors(scores)
        positives, negatives = weight * (signs > 0), weight * (signs < 0)
        tpr, fpr, soft_tpr, soft_fpr = (
            float(np.average(part, weights=of)) for part in (hard, soft) for of in (positives, negatives)
        )
        prior = float(np.average(signs > 0, weights=weight))
        return cls(threshold, calibration, prior, tpr, fpr, soft_tpr, soft_fpr)

    def posteriors(self, scores: Any) -> Array:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Scores of the rows.

        Returns
        -------
        array of float64, shape (n,)
            In [0, 1].
        """
        return self.calibration.posteriors(scores)

    def prevalence(self, scores: Any, method: str = "cc") -> float:
        """Estimated prevalence of the positive class among rows with these scores.

        Parameters
        ----------
        scores : array-like, shape (n,) or (n, k)
            Finite scores of at least one row; or of each of k networks that vote, as from `Model.network_scores`.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See the top of this module.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            If the method is unknown (the nearest is suggested), a score is not finite, or the shape is none of these.
        """
        choose("method", method, dict.fromkeys(METHODS))
        scores = checked_network_scores(scores)
        if scores.ndim == 2 and self.of_networks is not None and method in ADJUSTED:
            return self.of_networks.prevalence(scores.ravel(), method)
        scores = vote(scores)
        if method in ("cc", "acc"):
            share = classify_and_count(scores > self.threshold)
            return share if method == "cc" else adjusted_count(share, self.tpr, self.fpr)
        posteriors = self.posteriors(scores)
        if method == "sld":
            return expectation_maximisation(posteriors, self.prior)
        share = probabilistic_count(posteriors)
        return share if method == "pcc" else adjusted_count(share, self.soft_tpr, self.soft_fpr)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        dict
            By field.
        """
        of_networks = None if self.of_networks is None else self.of_networks.as_dict()
        return {**self._asdict(), "calibration": list(self.calibration), "of_networks": of_networks}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Quantifier:
        """The quantifier that `as_dict` described.

        Parameters
        ----------
        values : dict
            Returned by `as_dict`.

        Returns
        -------
        Quantifier
            Equal to the original.
        """
        nested = values.get("of_networks")  # former files lack it
        of_networks = None if nested is None else cls.from_dict(nested)
        return cls(**{**values, "calibration": Calibration(*values["calibration"]), "of_networks": of_networks})


def _proportion(name: str, value: Any) -> float:
    found = number(name, value)
    require(0 <= found <= 1, f"{name} must lie in [0, 1]", value)
    return found


def _posteriors(values: Any) -> Array:
    array = as_vector(values, "posteriors")
    outside = array[~((array >= 0) & (array <= 1))]
    require(not outside.size, "posteriors must lie in [0, 1]", outside[:3].tolist())
    return array
