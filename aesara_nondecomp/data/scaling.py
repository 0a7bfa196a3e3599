"""Centre and scale columns by the training rows: by mean and deviation, or by median and quartiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import number
from aesara_nondecomp._numeric import row_counts
from aesara_nondecomp.data.features import check_finite, row_slices

_CACHED_ENTRIES = 2**15
_FARTHEST = 1e4  # quartile distances from the median; a network of tables clips smoothly at 3
FREQUENT = 0.25  # share of the rows with which a single value can be a quartile
CLOSER = 4.0  # than the quartiles of all rows those of the others must be, so that these count
MOST_ROWS, FAR = 0.95, 100.0  # so many rows are within so many quartile distances of the median


class Standardiser(NamedTuple):
    """Column means and scales of a training set; make one with `Standardiser.fit`.

    Attributes
    ----------
    mean_ : float64 array, shape (d,)
        Mean of each column; 0 for a constant column, which is left as it is.
    scale_ : float64 array, shape (d,)
        Standard deviation of each column (ddof = 0); 1 for a constant column.
    clip : float
        Standardised values are clipped to [-clip, clip], in standard deviations.
    as_one : tuple of int, default ()
        Columns whose scales are larger than their spreads, so that all of them together have the spread of one.
    """

    mean_: NDArray[Any]
    scale_: NDArray[Any]
    clip: float = 10.0
    as_one: tuple[int, ...] = ()

    @classmethod
    def fit(cls, X: Any, clip: float = 10.0, sample_weight: NDArray[Any] | None = None) -> Standardiser:
        """Measure means and standard deviations of a dense matrix, in float64 and slice by slice.

        Parameters
        ----------
        X : array or LazyRows, shape (n, d)
            Finite numbers.
        clip : float, default 10.0
            In standard deviations, above 0; infinity clips nothing.
        sample_weight : array, shape (n,), optional
            Positive weights: a row of weight 2 counts as two rows. Default: equal weights.

        Returns
        -------
        Standardiser

        Raises
        ------
        ValueError
            If `X` is sparse, empty, not two-dimensional or not finite, `clip` is not positive, or the mean or deviation
            of a column overflows float64.
        """
        _check_dense(X)
        if not number("clip", clip) > 0:
            raise ValueError(f"clip must be positive, got {clip!r}. Use float('inf') for no clipping.")
        slices = list(row_slices(*X.shape))
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

        def weight_of(part: slice) -> NDArray[Any]:  # equal weights of all rows would take as much as a column
            return np.ones(part.stop - part.start) if weight is None else weight[part]

        total = float(len(X)) if weight is None else weight.sum()
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what float64 cannot hold is found below
            mean = sum(weight_of(part) @ X[part] for part in slices) / total
            moments = (_first_and_second_moments(X[part] - mean, weight_of(part)) for part in slices)
            left, squares = sum(moments, np.zeros((2, X.shape[1])))
            mean = mean + left / total  # what rounding left over, of columns far from 0
        if not np.isfinite(mean).all():
            check_finite(X)  # names the entry
        # Rounding leaves a constant column a tiny deviation, so it is recognised by comparison with the first row.
        constant = np.logical_and.reduce([(X[part] == X[:1]).all(axis=0) for part in slices])
        scale = np.sqrt(squares / total)
        extreme = ~constant & squares_left_float64(scale)
        if extreme.any():
            scale[extreme] = _scale_of_extremes(X, extreme, mean[extreme], weight_of, total)
        mean, scale = np.where(constant, 0.0, mean), np.where(constant, 1.0, scale)
        with np.errstate(over="ignore"):  # as above, of longdouble
            mean, scale = mean.astype(np.float64, copy=False), scale.astype(np.float64, copy=False)
        _check_measured(mean, scale)
        return cls(mean, scale, float(clip))

    @classmethod
    def robust(cls, X: Any, columns: list[int], sample_weight: NDArray[Any] | None = None) -> Standardiser:
        """Measure medians and quartile distances of some columns, which outliers do not move.

        Parameters
        ----------
        X : array, shape (n, d)
            Finite numbers; a sample of the training rows will do.
        columns : list of int
            The columns to scale; all others are left as they are.
        sample_weight : array, shape (n,), optional
            Positive weights. Default: equal weights.

        Returns
        -------
        Standardiser
            With the medians as `mean_`, and as `scale_` the quartile distances. Both leave out a value that makes a
            quarter of the rows, if the others are closer together, such as a code for what is unknown. Where the
            distance is 0, it is half the range. It is at least so large that 95 % of the rows lie within 100 of it,
            but for a value that makes half of those which do not.

        Notes
        -----
        Source: the preparation of RealMLP (Holzmueller, Grinsztajn and Steinwart 2024).
        """
        mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        weight = np.ones(len(X)) if sample_weight is None else row_counts(np.asarray(sample_weight, np.float64))
        for column in columns:
            values = np.asarray(X[:, column], dtype=np.float64)
            order = np.argsort(values, kind="stable")
            with np.errstate(over="ignore"):  # what float64 cannot hold is refused below
                median, spread = _median_and_spread(values[order], weight[order])
            if spread > 0:
                mean[column], scale[column] = median, spread
        _check_measured(mean, scale)
        return cls(mean, scale, _FARTHEST)

    def with_as_one(self, columns: list[int]) -> Standardiser:
        """The same with scales of some columns so large that together they have the spread of one.

        Parameters
        ----------
        columns : list of int
            Their indices.

        Returns
        -------
        Standardiser
        """
        scale = self.scale_.copy()
        scale[columns] *= max(1, len(columns)) ** 0.5
        return self._replace(scale_=scale, as_one=tuple(columns))

    @property
    def spread_(self) -> NDArray[Any]:
        """The spreads that were measured, float64 array of shape (d,): `scale_` but for the columns of `as_one`."""
        spread = self.scale_.copy()
        spread[list(self.as_one)] /= max(1, len(self.as_one)) ** 0.5
        return spread

    @property
    def holds_medians(self) -> bool:
        """Whether it was made by `robust`: `mean_` holds medians, and `scale_` quartile distances."""
        return self.clip == _FARTHEST

    def transform(self, X: Any, dtype: Any = None) -> NDArray[Any]:
        """Standardise and clip in float64, then convert.

        Parameters
        ----------
        X : array, shape (n, d)
            Finite numbers.
        dtype : dtype, optional
            Of the result. Default: float64 for float64 input, float32 otherwise.

        Returns
        -------
        array, shape (n, d)

        Raises
        ------
        ValueError
            If `X` is sparse, empty, not two-dimensional, or has another number of columns than in training.
        """
        _check_dense(X)
        if X.shape[1] != len(self.mean_):
            raise ValueError(
                f"features must have the {len(self.mean_)} columns seen in training, "
                f"got {X.shape[1]}. Apply the same preparation to both."
            )
        dtype = (np.float64 if X.dtype == np.float64 else np.float32) if dtype is None else dtype
        scaled = np.empty(X.shape, dtype=dtype)
        # Slices fit in the cache. Means and scales are repeated for each row of a slice, since broadcasting would cost
        # NumPy more than the arithmetic.
        slices = list(row_slices(len(X), X.shape[1], _CACHED_ENTRIES))
        shape = (slices[0].stop, X.shape[1])
        means, scales, moved = np.tile(self.mean_, (shape[0], 1)), np.tile(self.scale_, (shape[0], 1)), np.empty(shape)
        for part in slices:
            n = part.stop - part.start
            np.subtract(X[part], means[:n], out=moved[:n], dtype=np.float64)  # also of longdouble
            np.divide(moved[:n], scales[:n], out=moved[:n])
            with np.errstate(over="ignore"):  # what float32 cannot hold is clipped next
                scaled[part] = moved[:n]
            np.clip(scaled[part], -self.clip, self.clip, out=scaled[part])
        return scaled

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` rebuilds the standardiser from them."""
        return {
            "mean": self.mean_.tolist(),
            "scale": self.scale_.tolist(),
            "clip": self.clip,
            "as_one": list(self.as_one),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Standardiser:
        """Rebuild a standardiser from the values of `as_dict`.

        Parameters
        ----------
        values : mapping of str to plain values
            With the keys "mean", "scale", "clip" and, since 0.2, "as_one".

        Returns
        -------
        Standardiser
        """
        return cls(np.array(values["mean"]), np.array(values["scale"]), values["clip"], tuple(values.get("as_one", ())))


def squares_left_float64(scale: NDArray[Any]) -> NDArray[Any]:
    """Whether a deviation, computed from squares, is so extreme that they may have left the range of float64.

    Parameters
    ----------
    scale : float64 array, shape (d,)
        Standard deviations; NaN counts as extreme.

    Returns
    -------
    bool array, shape (d,)
    """
    return ~((scale > 1e-140) & (scale < 1e140))


def _scale_of_extremes(
    X: Any, columns: Any, mean: NDArray[Any], weight_of: Callable[[slice], NDArray[Any]], total: float
) -> Any:
    """Standard deviations of columns whose squares leave the range of float64, scaled by the largest deviation."""
    slices = list(row_slices(*X.shape))
    largest = np.maximum.reduce([np.abs(X[part][:, columns] - mean).max(axis=0) for part in slices])
    squares = sum(weight_of(part) @ np.square((X[part][:, columns] - mean) / largest) for part in slices)
    return largest * np.sqrt(squares / total)


def _first_and_second_moments(moved: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    """Weighted sums of the rows and of their squares, in that order; the rows are overwritten."""
    first = weight @ moved
    return np.stack([first, weight @ np.square(moved, out=moved)])


def _median_and_spread(values: NDArray[Any], weight: NDArray[Any]) -> tuple[float, float]:
    """Median and quartile distance of sorted values, or what stands for them; see `Standardiser.robust`."""
    median, spread = _quartiles(values, weight)
    if spread < np.finfo(np.float64).tiny:  # whose reciprocal is infinite
        spread = values[-1] / 2 - values[0] / 2
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    of_values = np.add.reduceat(weight, starts)
    frequent = np.argmax(of_values)
    repeated = 2 < len(starts) < len(values)
    if repeated and of_values[frequent] >= FREQUENT * of_values.sum():
        others = values != values[starts[frequent]]
        of_others = _quartiles(values[others], weight[others])
        if 0 < of_others[1] < spread / CLOSER:
            median, spread = of_others
    return float(median), float(max(spread, _reach(values, weight, median, FAR * spread) / FAR))


def _reach(values: NDArray[Any], weight: NDArray[Any], median: float, near: float) -> float:
    """How far from the median most rows are, but for a code: a value that makes half of those beyond `near`.

    0 if all rows are near.
    """
    distances = np.abs(values - median)
    far = distances > near
    if not far.any():
        return 0.0
    codes, place = np.unique(values[far], return_inverse=True)
    of_codes = np.bincount(place, weight[far])
    if of_codes.max() >= of_codes.sum() / 2:
        kept = values != codes[np.argmax(of_codes)]
        distances, weight = distances[kept], weight[kept]
    order = np.argsort(distances, kind="stable")
    reached = np.cumsum(weight[order])
    return float(distances[order][np.searchsorted(reached, MOST_ROWS * reached[-1])])


def _quartiles(values: NDArray[Any], weight: NDArray[Any]) -> tuple[float, float]:
    """The median of sorted values, and the distance of their quartiles."""
    reached = np.cumsum(weight)
    low, median, high = values[np.searchsorted(reached, np.array([0.25, 0.5, 0.75]) * reached[-1])]
    return median, high - low


def _check_measured(mean: NDArray[Any], scale: NDArray[Any]) -> None:
    usable = np.isfinite(mean) & np.isfinite(scale)
    if not usable.all():
        raise ValueError(
            "features must have a mean and a spread that float64 can hold, but column "
            f"{np.argmin(usable)} (from 0) is too large. Rescale it, for example by its largest entry."
        )
    usable = scale >= np.finfo(np.float64).tiny  # below, one over it is infinite
    if not usable.all():
        raise ValueError(
            "features must have a spread that float64 can hold in full, but column "
            f"{np.argmin(usable)} (from 0) is too small. Rescale it, for example by its largest entry."
        )


def _check_dense(X: Any) -> None:
    if is_sparse(X):
        raise ValueError(
            "standardising needs a dense array, got a sparse matrix, which would lose its "
            "zeros. Leave it unscaled, or pass X.toarray()."
        )
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(
            f"standardising needs rows of features, got shape {np.shape(X)}. Pass a non-empty two-dimensional array."
        )
