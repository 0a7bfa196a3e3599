"""Lists of str for the estimator: which networks take them, and the vocabulary that makes token ids of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp.data import Vocabulary
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.training.param_checks import TEXT_NETWORKS


def takes_text(estimator: Any) -> bool:
    """Whether the estimator's network is one for lists of str."""
    return isinstance(estimator.network, str) and estimator.network in TEXT_NETWORKS


def vocabulary_for(texts: np.ndarray, weight: np.ndarray | None, before: Model | None) -> Vocabulary:
    """The vocabulary of the model that training goes on from, or else that of the texts that are trained on."""
    if before is not None and before.vocabulary is not None:
        return before.vocabulary
    return Vocabulary.learn(list(texts if weight is None else texts[weight > 0]))


def as_ids(rows: Any, vocabulary: Vocabulary | None) -> Any:
    """Texts as token ids; rows of numbers, for which there is no vocabulary, as they are."""
    return rows if vocabulary is None else vocabulary.transform(rows)
