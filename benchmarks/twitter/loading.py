"""Load and encode the tweets."""

from __future__ import annotations

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data
from aesara_nondecomp.networks import BUILDERS, make, takes_tokens
from benchmarks.data import load
from benchmarks.twitter.types import EvaluationSet, Tweets

TEXT_NETWORKS = tuple(name for name in BUILDERS if takes_tokens(name))


def load_tweets(data_dir: str | None, networks: tuple[str, ...] = TEXT_NETWORKS) -> Tweets:
    """Load and encode the tweets, and build (not yet compile) the networks."""
    main = load("twitter" if data_dir else "vader_tweets", data_dir)
    loaded = [main, load("twitter2017", data_dir)] if data_dir else [main]
    vocabulary = data.Vocabulary.learn(main.X_train)
    tests = {
        each.name: EvaluationSet(each.X_test, vocabulary.transform(each.X_test), _signs(each.y_test)) for each in loaded
    }
    functions = {name: an.TrainFunctions(make(name, len(vocabulary))) for name in networks}
    return Tweets(main.name, vocabulary, vocabulary.transform(main.X_train), _signs(main.y_train), tests, functions)


def facts(tweets: Tweets) -> dict[str, dict[str, float]]:
    """Number of tweets and prevalence, of the training tweets and of each test set."""
    signs = {"training": tweets.signs, **{name: test.signs for name, test in tweets.tests.items()}}
    return {name: {"rows": len(own), "positives": float(np.mean(own > 0))} for name, own in signs.items()}


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1, -1)
