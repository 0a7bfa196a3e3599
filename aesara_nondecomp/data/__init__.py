"""Labels, splits, mini-batches, file readers and data sets. Nothing here needs Aesara.

Reading order: `labels` (any coding to {-1, +1}), `splits`, `scaling`, `batches`, `loaders`, `datasets`.
"""

from aesara_nondecomp.data.batches import Batch, MiniBatches, both_classes
from aesara_nondecomp.data.datasets import Dataset, load
from aesara_nondecomp.data.labels import Labels, check_features, check_lengths, decode, encode_as, encode_labels
from aesara_nondecomp.data.loaders import Table, read, read_csv, read_libsvm, read_npz
from aesara_nondecomp.data.scaling import Standardiser
from aesara_nondecomp.data.splits import stratified_split

__all__ = [
    "Batch",
    "Dataset",
    "Labels",
    "MiniBatches",
    "Standardiser",
    "Table",
    "both_classes",
    "check_features",
    "check_lengths",
    "decode",
    "encode_as",
    "encode_labels",
    "load",
    "read",
    "read_csv",
    "read_libsvm",
    "read_npz",
    "stratified_split",
]
