"""Categories of a column: which are told apart, in which place a cell's is, and how many cells have unknown ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data.cells import (
    category_form,
    category_places,
    cell_list,
    over_distinct,
    shortest_decimal,
    spelling,
)

MOST_CATEGORIES = 200  # of any column; of one with rows enough more
MOST_OF_MANY_ROWS, ROWS_OF_A_CATEGORY = 1_000, 10
WORDS_OF_A_TEXT = 3
FEW_CATEGORIES = 20  # so many are no sign of texts, in a table of few rows
MOST_EXAMPLES = 3  # of unknown categories, in a warning


class UnknownCategories:
    """Counts the cells whose categories training did not hold, over all blocks of a table."""

    def __init__(self) -> None:
        self._cells: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, name: str, cells: NDArray[Any], place: NDArray[Any]) -> None:
        """Count some cells of a column.

        Parameters
        ----------
        name : str
            The column.
        cells : array, shape (n,)
            Its cells.
        place : int array, shape (n,)
            Index of each cell's category; -1 for an unknown one.
        """
        unknown = np.flatnonzero(place < 0)
        self._cells[name] += place.size
        self._unknown[name] += unknown.size
        examples = (*self._examples.get(name, ()), *map(spelling, cell_list(cells[unknown])))
        self._examples[name] = list(dict.fromkeys(examples))[:MOST_EXAMPLES]

    def warn(self) -> None:
        """Issue one warning of all columns, if a cell was unknown."""
        if message := self.message():
            warn_caller(message)

    def message(self) -> str:
        """Say how many cells of which column were unknown; "" if none was.

        Returns
        -------
        str
        """
        told = []
        for name, unknown in self._unknown.items():
            if unknown:
                shown = ", ".join(repr(text) if text else "a missing value" for text in self._examples[name])
                share = f"{unknown} of {self._cells[name]} cells ({unknown / self._cells[name]:.1%})"
                told.append(f"{share} of {name!r}: {shown}")
        return f"categories that training did not hold are encoded as zeros: {'; '.join(told)}." if told else ""


def count_categories(name: str, cells: Sequence[Any], more: Collection[str]) -> Counter[str]:
    """The categories of a column, and how many cells have each; of several spellings of one, the first.

    Parameters
    ----------
    name : str
        The column.
    cells : sequence
        Its cells.
    more : collection of str
        Further spellings, of cells that are not among these, if they are a sample.

    Returns
    -------
    Counter
        Maps a category to its number of cells.

    Raises
    ------
    ValueError
        If the column holds only missing values, or more than 200 categories that name rows or are texts.

    Warns
    -----
    UserWarning
        If most cells are texts of their own.
    """
    spelt = Counter(over_distinct(spelling, cells))
    first: dict[str, str] = {}
    rows_of: Counter[str] = Counter()
    for text in sorted({*spelt, *over_distinct(spelling, list(more))}):
        rows_of[first.setdefault(category_form(text), text)] += spelt[text]
    check_values(name, set(first) == {""})
    names_rows = sum(count > 0 for count in rows_of.values()) > len(cells) / 2
    if len(first) > MOST_CATEGORIES and (names_rows or _are_texts(first)):
        remedy = _train_on_texts(name) if _are_texts(first) else "otherwise group its values."
        raise ValueError(
            f"column {name!r} holds {len(first)} different texts, more than the {MOST_CATEGORIES} that are "
            f"encoded one by one. Drop it if it names rows; {remedy}"
        )
    if len(first) > FEW_CATEGORIES and names_rows and _are_texts(first):
        warn_caller(
            f"column {name!r} holds {len(first)} different texts in {len(cells)} rows: each becomes a category, "
            f"which says nothing of new texts. Drop it if it names rows; {_train_on_texts(name)}"
        )
    return rows_of


def room_for_categories(n_rows: int, columns: Collection[Counter[str]]) -> int:
    """How many categories of a column can be encoded: 200, and up to 1,000 where there are ten rows for each.

    Parameters
    ----------
    n_rows : int
        Training rows.
    columns : collection of Counter
        The categories of each column. Those with more than 200 share the room for more equally.

    Returns
    -------
    int
    """
    large = sum(len(rows_of) > MOST_CATEGORIES for rows_of in columns)
    return max(MOST_CATEGORIES, min(MOST_OF_MANY_ROWS, n_rows // ROWS_OF_A_CATEGORY) // max(1, large))


def most_frequent(name: str, rows_of: Counter[str], most: int = MOST_CATEGORIES) -> tuple[str, ...]:
    """The categories that are encoded: all of them, or if they are too many, the most frequent.

    Parameters
    ----------
    name : str
        The column.
    rows_of : Counter
        As from `count_categories`.
    most : int, default 200
        How many can be encoded.

    Returns
    -------
    tuple of str
        In sorted order.

    Warns
    -----
    UserWarning
        If categories are left out.
    """
    if len(rows_of) <= most:
        return tuple(sorted(rows_of))
    found = sorted(rows_of, key=lambda text: (-rows_of[text], text))[:most]
    share = sum(rows_of[text] for text in found) / sum(rows_of.values())
    warn_caller(
        f"column {name!r} holds {len(rows_of)} categories: the {most} most frequent ({share:.0%} of the "
        "rows) are encoded, and all others count as one. Group its values to choose others."
    )
    return tuple(sorted(found))


def places_of(cells: NDArray[Any], categories: Sequence[str]) -> NDArray[Any]:
    """Index of each cell's category.

    Parameters
    ----------
    cells : array, shape (n,)
        Cells of a column.
    categories : sequence of str
        Those that are known.

    Returns
    -------
    int32 array, shape (n,)
        -1 for an unknown one.
    """
    place_of = category_places(categories)
    places = np.array(over_distinct(place_of, cell_list(cells)), dtype=np.int32)
    unknown = places < 0
    if unknown.any():  # former models have 0.10000000149011612 for a float32 of 0.1, as lists and objects do

        def place_of_float32(cell: Any) -> int:
            return max(place_of(cell), place_of(shortest_decimal(cell)))

        places[unknown] = over_distinct(place_of_float32, cells[unknown].tolist())
    return places


def check_values(name: str, empty: bool) -> None:
    """Refuse a column that holds only missing values.

    Parameters
    ----------
    name : str
        The column.
    empty : bool
        Whether it does.

    Raises
    ------
    ValueError
        If so.
    """
    if empty:
        raise ValueError(f"column {name!r} holds no values. Drop it.")


def _are_texts(different: Collection[str]) -> bool:
    """Whether half of the different values or more are of several words, and not names of categories."""
    return 2 * sum(len(text.split()) >= WORDS_OF_A_TEXT for text in different) >= len(different)


def _train_on_texts(name: str) -> str:
    return (
        f"to learn from its words, train on this column alone: an.fit(list(table[{name!r}]), y), or on the command "
        "line --network attention, with all other columns in --drop."
    )
