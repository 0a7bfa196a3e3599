"""Labels of which a row may have several: a matrix of 0 and 1, and the sets of labels that occur in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, distinct_rows, is_sparse
from aesara_nondecomp._checks import is_null, require, shown
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp.data.labels import distinct

Array = NDArray[Any]


class Indicators(NamedTuple):
    """Which labels the rows have.

    Attributes
    ----------
    matrix : bool array, shape (n, L)
        True where a row has a label.
    labels : tuple
        Names of the labels: those of the columns of a data frame, else 0 to L - 1.
    """

    matrix: Array
    labels: tuple[Any, ...]

    def rows(self, chosen: Array) -> Indicators:
        """Those of some rows.

        Parameters
        ----------
        chosen : int array, shape (m,)
            The rows.

        Returns
        -------
        Indicators
        """
        return Indicators(self.matrix[chosen], self.labels)

    def check_both(self, weight: Array | None = None, what: str = "labels", comm: Communicator = LOCAL) -> None:
        """Refuse a label that all rows have, or none.

        Parameters
        ----------
        weight : array, shape (n,), optional
            Sample weights; rows of weight 0 do not count. Default: all rows count.
        what : str, default "labels"
            The rows, for the message.
        comm : communicator, optional
            Of the processes that have parts of the rows. Default: a single process.

        Raises
        ------
        ValueError
            If there is one; it names it.
        """
        counted = self.matrix if weight is None else self.matrix[np.asarray(weight) > 0]
        having, n_rows = (sum(comm.allgather(own)) for own in (counted.sum(axis=0), len(counted)))
        for found, kind in ((having == 0, "none"), (having == n_rows, "only rows")):
            wrong = [label for label, is_wrong in zip(self.labels, found) if is_wrong]
            needed = f"{what} need rows with and rows without each label; leave out those that do not vary"
            require(not wrong, needed, f"{kind} with {wrong[:10]}")


class LabelSets(NamedTuple):
    """Rows by the set of labels that they have.

    Attributes
    ----------
    codes : int32 array, shape (n,)
        Set of each row.
    sets : bool array, shape (m, L)
        The sets: True where a label is in one.
    """

    codes: Array
    sets: Array

    @classmethod
    def of(cls, matrix: Array) -> LabelSets:
        """The sets that occur in a matrix.

        Parameters
        ----------
        matrix : bool array, shape (n, L)
            Which labels the rows have.

        Returns
        -------
        LabelSets
        """
        first, codes = distinct_rows(matrix)
        return cls(codes.astype(np.int32), matrix[first])


def signs_of_sets(sets: Array, codes: Array) -> Array:
    """The first label of rows, in {-1, +1}: it stands for all labels where two classes are needed.

    Parameters
    ----------
    sets : bool array, shape (m, L)
        As in `LabelSets`.
    codes : int array, shape (n,)
        Sets of the rows.

    Returns
    -------
    int8 array, shape (n,)
    """
    return np.where(sets[codes, 0], np.int8(1), np.int8(-1))


def is_indicator_matrix(y: Any) -> bool:
    """Whether labels are a matrix with a column for each label, and not a vector.

    Parameters
    ----------
    y : object
        As given to `fit`.

    Returns
    -------
    bool
        False for a single column, which is no problem of several labels.
    """
    if isinstance(y, Indicators):
        return True
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)):
        first = y[0] if len(y) else 0
        shape = (len(y), len(first)) if isinstance(first, (list, tuple, np.ndarray)) else (len(y),)
    return shape is not None and len(shape) == 2 and shape[1] != 1


def read_indicators(y: Any, labels: tuple[Any, ...] | None = None) -> Indicators:
    """Read a matrix of 0 and 1.

    Parameters
    ----------
    y : array-like, sparse matrix, data frame or Indicators, shape (n, L)
        0 and 1, or booleans; a column for each label.
    labels : tuple, optional
        Labels that it must have, such as those of the training rows. Default: any.

    Returns
    -------
    Indicators

    Raises
    ------
    ValueError
        If it holds other values or no rows, names a label twice, or does not have these labels.
    """
    names: tuple[Any, ...] | None
    if isinstance(y, Indicators):
        names, values = y.labels, y.matrix
    else:
        columns = getattr(y, "columns", None)
        names = None if columns is None else tuple(str(name) for name in columns)
        values = as_array(y.toarray() if is_sparse(y) else y, "labels")
    require(values.ndim == 2, "labels must be a matrix, with a column of 0 and 1 for each label", f"{values.shape}")
    require(values.size > 0, "labels must have rows and columns", f"shape {values.shape}")
    strange = [] if values.dtype == bool else _strange(values)
    needed = "a matrix of labels must hold 0 and 1 only (or booleans), with a column for each label; give class ids as "
    require(not strange, f"{needed}a vector, one for each row", strange[:5])
    own = names or tuple(range(values.shape[1]))
    require(len(set(own)) == len(own), "labels must name each column once", own)
    if labels is not None:
        same = len(own) == len(labels) and (names is None or own == labels or labels == tuple(range(len(own))))
        require(same, f"labels must have the {len(labels)} columns of training, {shown(labels)}", own)
    return Indicators(values.astype(bool), labels or own)


def _strange(values: Array) -> list[Any]:
    """Values that are neither 0 nor 1."""
    found = set(values.ravel().tolist()) if values.dtype == object else distinct(values.ravel()).tolist()
    return [value for value in found if isinstance(value, (str, bytes)) or is_null(value) or value not in (0, 1)]
