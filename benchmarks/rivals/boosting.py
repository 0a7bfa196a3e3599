"""Boosted trees of four libraries, with their defaults or in ten configurations stopped early on the validation rows.

Each function trains one model on one thread and returns the probabilities of the positive class on the validation rows
and on the test rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple, Optional

import numpy as np

from benchmarks.rivals.choice import Candidate
from benchmarks.rivals.encodings import as_numbers, is_frame, without_missing_categories
from benchmarks.rivals.sets import Tuning, optional

TREES, PATIENCE = 600, 30
"""Most trees of a tuned model, and the trees without gain after which it stops."""
DRAWS, DRAW_SEED = 8, 0


class Configuration(NamedTuple):
    """Options that the libraries share."""

    leaves: int
    rate: float
    columns: float
    """Share of the columns that a tree, or a split in scikit-learn, may use."""
    rows: float
    """Share of the rows that a tree is grown on; scikit-learn has no such option."""
    l2: float
    least_rows: int
    """Rows of a leaf, at least; not used by CatBoost, whose trees are symmetric."""


def _drawn() -> Iterator[Configuration]:
    rng = np.random.default_rng(DRAW_SEED)
    for _ in range(DRAWS):
        yield Configuration(
            leaves=int(rng.integers(15, 128)),
            rate=float(np.exp(rng.uniform(math.log(0.015), math.log(0.15)))),
            columns=float(rng.uniform(0.5, 1.0)),
            rows=float(rng.uniform(0.7, 1.0)),
            l2=float(rng.uniform(0.0, 10.0)),
            least_rows=int(rng.integers(5, 51)),
        )


CONFIGURATIONS = (
    Configuration(leaves=31, rate=0.05, columns=1.0, rows=1.0, l2=0.0, least_rows=20),
    Configuration(leaves=63, rate=0.03, columns=0.8, rows=0.8, l2=1.0, least_rows=20),
    *_drawn(),
)
Train = Callable[[Tuning, Optional[Configuration], int], Candidate]
"""From the rows, a configuration (None for the library's defaults) and a seed to a model's probabilities."""


def hist_gradient_boosting(rows: Tuning, chosen: Configuration | None, seed: int) -> Candidate:
    """scikit-learn's, which by default stops early on a tenth of its rows where it has more than 10,000."""
    ensemble = optional("sklearn.ensemble")
    if chosen is None:
        return _probabilities(ensemble.HistGradientBoostingClassifier(random_state=seed).fit(rows.X, rows.y), rows)
    model = ensemble.HistGradientBoostingClassifier(
        learning_rate=chosen.rate, max_leaf_nodes=chosen.leaves, min_samples_leaf=chosen.least_rows,
        l2_regularization=chosen.l2, max_features=chosen.columns, max_iter=TREES, early_stopping=True,
        n_iter_no_change=PATIENCE, tol=0.0, random_state=seed,
    )  # fmt: skip
    model.fit(rows.X, rows.y, X_val=rows.X_held, y_val=rows.y_held)
    best = max(int(np.argmax(model.validation_score_)), 1)  # the first score is that of no tree
    return Candidate(_after_trees(model, best, rows.X_held), _after_trees(model, best, rows.X_test))


def _after_trees(model: Any, count: int, X: Any) -> np.ndarray:
    """The other libraries leave out the trees after the best one by themselves."""
    return next(islice(model.staged_predict_proba(X), count - 1, None))[:, 1]


def lightgbm(rows: Tuning, chosen: Configuration | None, seed: int) -> Candidate:
    """LightGBM; categorical columns of a data frame are taken as such."""
    library = optional("lightgbm")
    common = {"n_jobs": 1, "verbose": -1, "random_state": seed}
    if chosen is None:
        return _probabilities(library.LGBMClassifier(**common).fit(rows.X, rows.y), rows)
    model = library.LGBMClassifier(
        n_estimators=TREES, num_leaves=chosen.leaves, learning_rate=chosen.rate, colsample_bytree=chosen.columns,
        subsample=chosen.rows, subsample_freq=1, reg_lambda=chosen.l2, min_child_samples=chosen.least_rows, **common,
    )  # fmt: skip
    stop = library.early_stopping(PATIENCE, verbose=False)
    model.fit(rows.X, rows.y, eval_set=[(rows.X_held, rows.y_held)], eval_metric="binary_logloss", callbacks=[stop])
    return _probabilities(model, rows)


def xgboost(rows: Tuning, chosen: Configuration | None, seed: int) -> Candidate:
    """XGBoost; a data frame is encoded as numbers first."""
    library, rows = optional("xgboost"), as_numbers(rows)
    common = {"n_jobs": 1, "random_state": seed}
    if chosen is None:
        return _probabilities(library.XGBClassifier(**common).fit(rows.X, rows.y), rows)
    share = float(rows.y.mean())
    model = library.XGBClassifier(
        n_estimators=TREES, max_leaves=chosen.leaves, max_depth=0, grow_policy="lossguide", tree_method="hist",
        learning_rate=chosen.rate, colsample_bytree=chosen.columns, subsample=chosen.rows, reg_lambda=chosen.l2,
        min_child_weight=chosen.least_rows * share * (1 - share),  # in units of the loss's second derivative
        early_stopping_rounds=PATIENCE, eval_metric="logloss", **common,
    )  # fmt: skip
    return _probabilities(model.fit(rows.X, rows.y, eval_set=[(rows.X_held, rows.y_held)], verbose=False), rows)


def catboost(rows: Tuning, chosen: Configuration | None, seed: int) -> Candidate:
    """CatBoost; as many levels of its symmetric trees as give about the configuration's leaves."""
    library, rows = optional("catboost"), without_missing_categories(rows)
    categories = list(rows.X.select_dtypes(exclude="number")) if is_frame(rows.X) else None
    common = {
        "thread_count": 1, "verbose": False, "allow_writing_files": False, "random_seed": seed,
        "cat_features": categories,
    }  # fmt: skip
    if chosen is None:
        return _probabilities(library.CatBoostClassifier(**common).fit(rows.X, rows.y), rows)
    model = library.CatBoostClassifier(
        iterations=TREES, depth=round(math.log2(chosen.leaves)), learning_rate=chosen.rate, rsm=chosen.columns,
        bootstrap_type="Bernoulli", subsample=chosen.rows, l2_leaf_reg=chosen.l2, **common,
    )  # fmt: skip
    model.fit(rows.X, rows.y, eval_set=(rows.X_held, rows.y_held), early_stopping_rounds=PATIENCE)
    return _probabilities(model, rows)


def _probabilities(model: Any, rows: Tuning) -> Candidate:
    return Candidate(model.predict_proba(rows.X_held)[:, 1], model.predict_proba(rows.X_test)[:, 1])


LIBRARIES: dict[str, Train] = {
    "hist_gradient_boosting": hist_gradient_boosting,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
}
