"""Keywords that other libraries have and `fit` and `MeasureClassifier` do not: what to use here in their place."""

from __future__ import annotations

from collections.abc import Mapping

from aesara_nondecomp.training.parameters import PARAMETERS

_MEASURE = (
    "the measure says what the classes count, such as 'f1', 'min' or 'gmean', so they need no weights; `sample_weight` "
    "weighs rows"
)
_HELD_OUT = "rows are held out by themselves; `validation` takes a share, a number of folds or rows of your own, (X, y)"
_PATIENCE = (
    "training stops where rows held out say so; `validation=EarlyStopping(patience=...)` of fit and `patience` of "
    "MeasureClassifier say how soon"
)
_STEPS = "networks are trained, not trees: `steps` says how long, and by default it follows from the number of rows"
_EPOCHS = "`steps` says how long to train; an epoch is the number of rows divided by `batch_size`"
_TRAINED_FOR = "`measure` says what is trained for and judged by"
_L2 = "`l2` is the weight decay"
_WIDTHS = "the widths of hidden layers are `network=(64, 64)` of fit and `hidden=(64, 64)` of MeasureClassifier"
_RATE = "it is called `learning_rate` here"

_COMMON: Mapping[str, str] = {
    **dict.fromkeys(("class_weight", "class_weights", "pos_weight", "scale_pos_weight", "is_unbalance"), _MEASURE),
    **dict.fromkeys(("auto_class_weights", "sampling_strategy", "focal_gamma"), _MEASURE),
    **dict.fromkeys(("eval_set", "eval_sets", "eval_names", "valid_sets", "validation_data"), _HELD_OUT),
    **dict.fromkeys(("validation_split", "validation_fraction", "X_val", "y_val", "cv", "early_stopping"), _HELD_OUT),
    **dict.fromkeys(("early_stopping_rounds", "n_iter_no_change", "stopping_rounds", "tol"), _PATIENCE),
    **dict.fromkeys(("n_estimators", "num_boost_round", "iterations", "max_depth", "num_leaves", "subsample"), _STEPS),
    **dict.fromkeys(("n_steps", "num_steps", "max_steps"), "it is called `steps` here"),
    **dict.fromkeys(("epochs", "n_epochs", "num_epochs", "max_epochs", "max_iter", "n_iter"), _EPOCHS),
    **dict.fromkeys(("loss", "objective", "criterion", "eval_metric", "metric", "metrics", "scoring"), _TRAINED_FOR),
    **dict.fromkeys(("alpha", "weight_decay", "reg_lambda", "lambda_l2", "C"), _L2),
    **dict.fromkeys(("hidden_layer_sizes", "hidden_sizes", "hidden_size", "layers"), _WIDTHS),
    **dict.fromkeys(("lr", "eta", "learning_rate_init"), _RATE),
    "solver": "it is called `optimizer` here",
    "callbacks": "it is called `on_step` here",
    "threshold": "it is chosen on the rows held out; `tune_threshold` of a model moves it on rows of your own",
}
OF_FIT: Mapping[str, str] = {
    **_COMMON,
    "random_state": "it is called `seed` here, and `random_state` in MeasureClassifier",
    "verbose": "it is called `progress` here, and `verbose` in MeasureClassifier",
    "pos_label": "it is called `positive` here, and `pos_label` in MeasureClassifier",
    "warm_start": "train a model further by network=model",
    "dtype": "it is that of the network: network=lambda n_columns: mlp(n_columns, dtype='float64')",
    **dict.fromkeys(
        ("dropout", "members", "activation", "hidden"),
        "it belongs to the network: network=(64, 64), or network=lambda n_columns: tabular(n_columns, members=4)",
    ),
    **dict.fromkeys(
        ("refit", "tune_threshold"), "it is a field of EarlyStopping: validation=EarlyStopping(tune_threshold=True)"
    ),
    "resume": "it is a field of Checkpoint: checkpoint=Checkpoint(path, resume=True)",
}
OF_CLASSIFIER: Mapping[str, str] = {
    **_COMMON,
    "seed": "it is called `random_state` here, and `seed` in fit",
    "progress": "it is called `verbose` here, and `progress` in fit",
    "positive": "it is called `pos_label` here, and `positive` in fit",
    "sample_weight": "give it to the method fit, with the rows",
    "groups": "give it to the method fit, with the rows",
    "validation_groups": "give it to the method fit, with the rows",
}
OF_METHOD_FIT: Mapping[str, str] = {
    **OF_CLASSIFIER,
    **dict.fromkeys(
        ("measure", *PARAMETERS, "pos_label", "verbose", "random_state"),
        "it is one of the classifier itself: MeasureClassifier(...) or set_params(...)",
    ),
}
