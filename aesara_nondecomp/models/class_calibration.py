"""What a model of several classes says of probabilities and prevalences, after calibration on labelled rows."""

from __future__ import annotations

from typing import Any, TypeVar

from numpy.typing import NDArray

from aesara_nondecomp._numeric import vote
from aesara_nondecomp.metrics.checks import checked_weights
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier, calibrated
from aesara_nondecomp.metrics.class_scores import ClassCalibration
from aesara_nondecomp.metrics.quantification import ADJUSTED
from aesara_nondecomp.models.network_model import NOT_CALIBRATED, NetworkModel

Calibrated = TypeVar("Calibrated", bound="CalibratedClasses")


class CalibratedClasses(NetworkModel):
    """Methods of a model of several classes that need calibration, or make it."""

    calibration: ClassCalibration | None
    quantifier: ClassQuantifier | None

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Estimate the probabilities of the classes by calibrating the scores.

        Predictions need not be the most probable classes: that is what the measure asks for.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n, K)
            In the order of `classes`; rows sum to 1.

        Raises
        ------
        ValueError
            If the model is not calibrated, or X is unusable.
        """
        return self.require_calibration().probabilities(self._scores(self._rows(X)))

    def predict_prevalence(self, X: Any, method: str = "cc") -> NDArray[Any]:
        """Estimate the prevalences of the classes, their shares among the rows.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See `metrics.quantification`.

        Returns
        -------
        array, shape (K,)
            In the order of `classes`; at least 0, with the sum 1.

        Raises
        ------
        ValueError
            If the method is unknown, the model is not calibrated, or X is unusable.
        """
        self.require_quantifier()
        return self.prevalence_of_scores(self.network_scores(X), method)

    def prevalence_of_scores(self, scores: NDArray[Any], method: str = "cc") -> NDArray[Any]:
        """Estimate the prevalences of the classes from scores.

        Parameters
        ----------
        scores : array, shape (n, k, K)
            Of each network, as from `network_score_blocks`.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            As in `predict_prevalence`.

        Returns
        -------
        array, shape (K,)
            As from `predict_prevalence`.

        Raises
        ------
        ValueError
            If the method is unknown, or the model is not calibrated.
        """
        calibration, quantifier = self.require_calibration(), self.require_quantifier()
        if quantifier.networks > 1 and method in ADJUSTED:
            rows, calibration = scores.reshape(-1, scores.shape[-1]), quantifier.calibration or calibration
        else:
            rows = vote(scores)
        return quantifier.prevalence(self._predicted(rows), calibration.probabilities(rows), method)

    def calibrate(self: Calibrated, X: Any, y: Any, sample_weight: Any = None) -> Calibrated:
        """Fit calibration and rates, which `predict_proba` and `predict_prevalence` need.

        `fit` does this on its validation rows, if there are any.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            Rows of each class. On training rows the result is optimistic if the network overfits.
        y : array-like, shape (n,)
            True labels.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.

        Returns
        -------
        ClassModel
            Itself.

        Raises
        ------
        ValueError
            If X, y or weights are unusable, or a class has no rows.
        """
        rows, codes = self._labelled(X, y)
        weight = None if sample_weight is None else checked_weights(sample_weight, len(codes))
        return self.calibrate_scores(self._scores(rows), codes, weight)

    def calibrate_scores(
        self: Calibrated, scores: NDArray[Any], codes: NDArray[Any], weight: NDArray[Any] | None = None
    ) -> Calibrated:
        """Fit calibration and rates on scores of the network, which several processes may have computed.

        Parameters
        ----------
        scores : array, shape (n, K)
            As from `score_blocks`, without the rule.
        codes : int array, shape (n,)
            Classes as numbers, in the order of `classes`.
        weight : array, shape (n,), optional
            Sample weights. Default: equal weights.

        Returns
        -------
        ClassModel
            Itself.
        """
        self.calibration, self.quantifier = calibrated(scores, self._predicted(scores), codes, weight)
        return self

    def require_calibration(self) -> ClassCalibration:
        """The model's `calibration`, if there is one.

        Returns
        -------
        ClassCalibration

        Raises
        ------
        ValueError
            If the model is not calibrated.
        """
        if self.calibration is None:
            raise ValueError(NOT_CALIBRATED)
        return self.calibration

    def require_quantifier(self) -> ClassQuantifier:
        """The model's `quantifier`, if there is one.

        Returns
        -------
        ClassQuantifier

        Raises
        ------
        ValueError
            If the model is not calibrated.
        """
        if self.quantifier is None:
            raise ValueError(NOT_CALIBRATED)
        return self.quantifier

    def _predicted(self, scores: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        raise NotImplementedError
