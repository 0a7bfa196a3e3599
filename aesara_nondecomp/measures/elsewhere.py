"""Measures that other libraries have and the catalogue has not: what each is about, and what is near it here."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Elsewhere(NamedTuple):
    """A measure of other libraries.

    Attributes
    ----------
    about : str
        What it is, as the end of a sentence that begins with "It".
    near : tuple of str
        Measures to take, the nearest in meaning first: of two classes, and of several. None if `about` says what to do.
    """

    about: str
    near: tuple[str, ...]


_RANKING = Elsewhere(
    "judges the order of all scores, and a measure here the predicted labels; report it by scikit-learn beside",
    ("gmean", "balanced_accuracy", "f1", "min_recall", "macro_f1"),
)
_PROBABILITIES = Elsewhere(
    'judges probabilities, which algorithm="cross_entropy" trains and predict_proba gives calibrated',
    ("accuracy", "f1", "macro_f1"),
)
_CORRELATION = Elsewhere("is high where both classes are recalled and precise", ("gmean", "f1", "jaccard"))
_MACRO = Elsewhere("is 'macro_f1' of measures.multiclass, which fit takes too", ("macro_f1", "gmean", "f1"))
_PER_CLASS_MEAN = Elsewhere(
    "weighs the F1 of each class by its size, so that the frequent one decides", ("macro_f1", "micro_f1", "f1")
)
_PRECISION = Elsewhere(
    "is 1 for a single sure prediction; report it by ConfusionMatrix.precision, and keep it above a level by "
    'constraints=[at_least("precision", 0.9)] '
    "(--constraint 'precision >= 0.9'), with the measure recall, or weigh it",
    ("recall", "fbeta", "f1", "macro_f1"),
)
_SPECIFICITY = Elsewhere(
    'is 1 for the label negative alone; keep it above a level by constraints=[at_least("tnr", 0.9)] '
    "(--constraint 'tnr >= 0.9'), with the measure recall, or take both rates",
    ("recall", "min", "balanced_accuracy", "gmean", "min_recall"),
)
_BALANCED = Elsewhere("is the mean of both recalls", ("balanced_accuracy", "mean_recall", "gmean"))
_ERROR = Elsewhere("is 1 less the accuracy", ("accuracy", "balanced_accuracy", "macro_f1"))
_REGRESSION = Elsewhere("is of regression, and here are classifiers", ("accuracy", "f1", "macro_f1"))
_OVERLAP = Elsewhere("is the overlap of the positives and those predicted", ("jaccard", "f1", "macro_f1"))


def _fbeta(beta: str) -> Elsewhere:
    about = f"is measures.get('fbeta', beta={beta}), on the command line fbeta:beta={beta}; without beta that is 1"
    return Elsewhere(about, ())


MEASURES: dict[str, Elsewhere] = {
    **dict.fromkeys(("auc", "roc_auc", "auroc", "roc", "gini", "ks", "lift"), _RANKING),
    **dict.fromkeys(("roc_auc_ovr", "roc_auc_ovo", "ndcg"), _RANKING),
    **dict.fromkeys(("ap", "map", "average_precision", "auprc", "aucpr", "pr_auc", "prauc", "auc_pr"), _RANKING),
    **dict.fromkeys(("logloss", "log_loss", "cross_entropy", "crossentropy", "bce", "nll"), _PROBABILITIES),
    **dict.fromkeys(("binary_crossentropy", "binary_logloss", "mlogloss", "brier", "brier_score"), _PROBABILITIES),
    **dict.fromkeys(("mcc", "matthews_corrcoef", "matthews", "phi"), _CORRELATION),
    **dict.fromkeys(("kappa", "cohen_kappa", "cohens_kappa"), _CORRELATION),
    "f1_macro": _MACRO,
    "macro_f1": _MACRO,
    **dict.fromkeys(("f1_weighted", "weighted_f1", "f1_micro", "micro_f1", "f1_samples"), _PER_CLASS_MEAN),
    **dict.fromkeys(("f", "f_score", "f_measure", "f1_score"), Elsewhere("is 'f1'", ("f1", "macro_f1"))),
    "dice": Elsewhere("is 'f1'", ("f1", "macro_f1")),
    "f2": _fbeta("2"),
    "f0.5": _fbeta("0.5"),
    "f05": _fbeta("0.5"),
    **dict.fromkeys(("precision", "ppv"), _PRECISION),
    **dict.fromkeys(("sensitivity", "tpr", "hit_rate"), Elsewhere("is 'recall'", ("recall", "fbeta", "min_recall"))),
    **dict.fromkeys(("specificity", "tnr", "selectivity", "fpr"), _SPECIFICITY),
    **dict.fromkeys(("bacc", "bal_acc", "uar", "macro_recall", "recall_macro", "youden"), _BALANCED),
    **dict.fromkeys(("youden_j", "informedness", "bookmaker", "ber"), _BALANCED),
    **dict.fromkeys(("error", "error_rate", "zero_one", "zero_one_loss", "hamming", "hamming_loss"), _ERROR),
    "acc": Elsewhere("is 'accuracy'", ("accuracy", "balanced_accuracy")),
    **dict.fromkeys(("iou", "csi", "threat", "tanimoto"), _OVERLAP),
    **dict.fromkeys(("g_mean", "geometric_mean", "gm"), Elsewhere("is 'gmean'", ("gmean",))),
    **dict.fromkeys(("mse", "rmse", "mae", "r2", "l2"), _REGRESSION),
}


def meaning_of(name: str, known: Collection[str]) -> str:
    """Say what a measure of other libraries is, and what is near it in meaning.

    Parameters
    ----------
    name : str
        As it was given, in any of its usual spellings, such as "neg_log_loss" or "ROC AUC".
    known : collection of str
        The measures that can be taken.

    Returns
    -------
    str
        One or two sentences, or "" for a name that is not known here either.
    """
    spelt = name.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("neg_")
    found = MEASURES.get(spelt) or MEASURES.get(spelt.removesuffix("_score"))
    near = [each for each in found.near if each in known] if found else []
    if found is None or found.near and not near:
        return ""
    take = f" Take {' or '.join(map(repr, near))}." if near else ""
    return f"It {found.about}.{take}"
