"""Text to token ids: a tokeniser made for tweets, and a vocabulary learned from training text."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable

import numpy as np

from aesara_nondecomp._checks import positive_int, require

PADDING, UNKNOWN = 0, 1
FIRST_WORD = 2


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids: 0 is padding, 1 any other word, `words[k]` has the id 2 + k.

    Make one with `learn`, or from what `to_dict` gave with `from_dict`.

    Attributes
    ----------
    words : tuple of str. Most frequent first.
    max_tokens : int. Tokens of a text beyond this many are cut off.
    """

    words: tuple[str, ...]
    max_tokens: int = 100

    @classmethod
    def learn(
        cls, texts: Sequence[str], *, min_count: int = 2, max_words: int | None = None, max_tokens: int = 100
    ) -> Vocabulary:
        """The words of training texts.

        Parameters
        ----------
        texts : sequence of str, shape (n,)
        min_count : int >= 1. Rarer words become the unknown word, which gets its embedding from them.
        max_words : int >= 1, optional. Only the most frequent ones are kept.
        max_tokens : int >= 1

        Raises
        ------
        ValueError
            If `texts` are no texts, are all empty, or hold no word `min_count` times.
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
        """The tokens of one text, known or not, as many as are kept."""
        return _tokeniser()(text)[: self.max_tokens]

    def transform(self, texts: Sequence[str]) -> np.ndarray:
        """Token ids of texts.

        Parameters
        ----------
        texts : sequence of str, shape (n,). An empty text is a row of padding.

        Returns
        -------
        int32 array, shape (n, T)
            T is the length of the longest text, at least 1; shorter ones are padded with 0 at the end.

        Raises
        ------
        ValueError
            If `texts` are no texts.
        """
        rows = [self.tokens(text) for text in check_texts(texts)]
        ids = np.full((len(rows), max(1, *map(len, rows), 1)), PADDING, dtype=np.int32)
        for row, tokens in zip(ids, rows):
            row[: len(tokens)] = [self._ids.get(token, UNKNOWN) for token in tokens]
        return ids

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        return {"tokeniser": "tweets", "words": list(self.words), "max_tokens": self.max_tokens}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Vocabulary:
        """The vocabulary that `to_dict` described.

        Raises
        ------
        ValueError
            If it describes none.
        """
        if values.get("tokeniser") != "tweets" or not isinstance(values.get("words"), list):
            raise ValueError(f"a stored vocabulary must name its tokeniser and words, got {json.dumps(values)[:80]}")
        return cls(tuple(values["words"]), values["max_tokens"])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: FIRST_WORD + k for k, word in enumerate(self.words)}


def is_text(X: Any) -> bool:
    """Whether an input is meant as texts: one-dimensional, with a string among its first 1,000 entries."""
    if isinstance(X, (str, bytes)):
        return True
    if getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable) or isinstance(X, dict):
        return False
    return any(isinstance(entry, (str, bytes)) for entry in itertools.islice(X, 1000))


def check_texts(texts: Any) -> list[str]:
    """Check that an input is a sequence of texts, and make it a list.

    Raises
    ------
    ValueError
        For a bare string, an empty sequence, or an entry that is no str (None, bytes, a number), with its position.
    """
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise ValueError(f"texts must be a list of str, got {_shown(texts)}. Put a single text in a list.")
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
