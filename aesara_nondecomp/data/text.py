"""Texts to token ids: a tokeniser made for tweets, and a vocabulary learned from training texts."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, require

PADDING, UNKNOWN = 0, 1
FIRST_WORD = 2


@dataclass(frozen=True)
class Vocabulary:
    """Words and their token ids: 0 is padding, 1 an unknown word, and `words[k]` has the id 2 + k.

    Learn one from training texts with `learn`, or restore one with `from_dict`.

    Attributes
    ----------
    words : tuple of str
        The known words, most frequent first.
    max_tokens : int
        Texts are truncated to this many tokens.
    """

    words: tuple[str, ...]
    max_tokens: int = 100

    @classmethod
    def learn(
        cls, texts: Sequence[str], *, min_count: int = 2, max_words: int | None = None, max_tokens: int = 100
    ) -> Vocabulary:
        """Learn the words of training texts.

        Parameters
        ----------
        texts : sequence of str, shape (n,)
            Training texts.
        min_count : int, default 2
            Number of occurrences from which on a word is known, at least 1. All rarer words share the embedding of
            the unknown word.
        max_words : int, optional
            Keep only the most frequent words, at least 1.
        max_tokens : int, default 100
            Tokens kept of each text, at least 1.

        Returns
        -------
        Vocabulary

        Raises
        ------
        ValueError
            If `texts` is not a sequence of str, if all texts are empty, or if no word occurs `min_count` times.
        ImportError
            If NLTK is missing.
        """
        texts, min_count = check_texts(texts), positive_int("min_count", min_count)
        counts = Counter(itertools.chain.from_iterable(map(_tokeniser(), texts)))
        if not counts:
            raise ValueError(f"texts must hold words, got {len(texts)} texts that are all empty. Check the column.")
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, count in ranked if count >= min_count]
        require(bool(words), f"some word must occur min_count = {min_count} times; lower it", f"{len(counts)} rarer")
        kept = words if max_words is None else words[: positive_int("max_words", max_words)]
        return cls(tuple(kept), positive_int("max_tokens", max_tokens))

    def __len__(self) -> int:
        """Number of ids: the `vocabulary_size` of a network."""
        return FIRST_WORD + len(self.words)

    def tokens(self, text: str) -> list[str]:
        """Split one text into tokens, known or not, and truncate it.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of str
            At most `max_tokens` tokens.
        """
        return _tokeniser()(text)[: self.max_tokens]

    def transform(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Convert texts to token ids.

        Parameters
        ----------
        texts : sequence of str, shape (n,)
            Texts; an empty one becomes a row of padding.

        Returns
        -------
        array of int32, shape (n, T)
            T is the length of the longest text, at least 1; shorter texts are padded with 0 at the end.

        Raises
        ------
        ValueError
            If `texts` is not a sequence of str.
        """
        texts, split = check_texts(texts), _tokeniser()
        rows = [split(text)[: self.max_tokens] for text in texts]
        ids = np.full((len(rows), max([1, *map(len, rows)])), PADDING, dtype=np.int32)
        for row, tokens in zip(ids, rows):
            row[: len(tokens)] = [self._ids.get(token, UNKNOWN) for token in tokens]
        return ids

    def to_dict(self) -> dict[str, Any]:
        """Describe the vocabulary in values that JSON can hold, for `from_dict`.

        Returns
        -------
        dict of str to object
            "tokeniser", "words" and "max_tokens".
        """
        return {"tokeniser": "tweets", "words": list(self.words), "max_tokens": self.max_tokens}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Vocabulary:
        """Restore a vocabulary described by `to_dict`.

        Parameters
        ----------
        values : dict
            The description.

        Returns
        -------
        Vocabulary

        Raises
        ------
        ValueError
            If `values` does not describe a vocabulary.
        """
        described = values.get("tokeniser") == "tweets" and isinstance(values.get("words"), list)
        if not described or "max_tokens" not in values:
            raise ValueError(
                f"a stored vocabulary must name its tokeniser, words and max_tokens, got {json.dumps(values)[:80]}"
            )
        return cls(tuple(values["words"]), values["max_tokens"])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: FIRST_WORD + k for k, word in enumerate(self.words)}


def is_text(X: Any) -> bool:
    """Tell whether an input is meant as texts: one-dimensional, with a string among its first 1,000 entries.

    Parameters
    ----------
    X : object
        Any input of `fit`.

    Returns
    -------
    bool
        True also for a bare string, which `check_texts` then refuses; False for an iterator.
    """
    if isinstance(X, (str, bytes)):
        return True
    if getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable) or isinstance(X, (dict, Iterator)):
        return False  # an iterator would be missing what is taken from it here
    return any(isinstance(entry, (str, bytes)) for entry in itertools.islice(X, 1000))


def check_texts(texts: Any) -> list[str]:
    """Check that an input is a sequence of texts.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
        At least one text, which may be empty.

    Returns
    -------
    list of str
        The texts.

    Raises
    ------
    ValueError
        For a bare string, an empty sequence, or an entry that is not a str (None, bytes, a number), with its position.
    """
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise ValueError(
            f"texts must be a list of str, got {_shown(texts)}. Put a single text in a list; "
            "files of a table are for fit(path, target=...) of aesara_nondecomp."
        )
    table = isinstance(texts, (Mapping, set, frozenset)) or hasattr(texts, "columns")
    require(not table, "texts must be a list of str (of a table, pass its column of texts)", type(texts).__name__)
    listed = list(texts)
    require(bool(listed), "texts must be a list of at least one str", listed)
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            raise ValueError(
                f"texts must be a list of str, got {_shown(text)} at position {position}. "
                "Decode bytes, and write a missing text as ''."
            )
    return listed


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:40]!r}"


def _tokeniser() -> Callable[[str], list[str]]:
    try:
        from nltk.tokenize.casual import TweetTokenizer
    except ImportError as missing:
        raise ImportError("text needs NLTK's tokeniser: pip install 'aesara-nondecomp[text]'") from missing
    # Lower case, and at most three of the same letter in a row ("soooooo").
    split = TweetTokenizer(preserve_case=False, reduce_len=True).tokenize
    return lambda text: split(unicodedata.normalize("NFC", text))
