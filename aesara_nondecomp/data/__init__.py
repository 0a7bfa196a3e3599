"""Labels, splits, mini-batches, file readers and the embedded data sets. Nothing here needs Aesara.

Reading order: `labels` (any coding of two classes to {-1, +1}), `class_order`, `label_sets` (several labels of a row),
`splits` (validation rows), `sample_weights`, `groups`, `features` (checks of a matrix), `memory_maps`, `scaling`,
`columns` (for networks of tables), `rows` (read and scaled on access), `tokens` and `text` (texts as token ids),
`cells`, `categories`, `table_columns`, `column_kinds` and `tabular` (tables as matrices), `inputs` (the encoder that a
model owns), `samplers`, `disk_rows`, `row_loader` and `batches` (mini-batches), `files`, `label_numbers`, `csv_cells`,
`csv_headers`, `standard_input`, `csv_files`, `table_parts`, `arrow_tables`, `table_files` and `loaders` (file readers),
`table_survey` and `streamed_tables` (those that do not fit in memory), `datasets` (by name).
"""

from aesara_nondecomp.data.batches import Batch, MiniBatches, both_classes
from aesara_nondecomp.data.csv_files import read_csv, read_csv_columns
from aesara_nondecomp.data.datasets import Dataset, load
from aesara_nondecomp.data.features import check_features, check_finite, check_lengths
from aesara_nondecomp.data.files import Table
from aesara_nondecomp.data.inputs import InputEncoder
from aesara_nondecomp.data.labels import (
    ClassLabels,
    Labels,
    count_labels,
    decode,
    distinct,
    distinct_labels,
    encode_as,
    encode_classes,
    encode_classes_as,
    encode_labels,
)
from aesara_nondecomp.data.loaders import read, read_libsvm, read_npz
from aesara_nondecomp.data.rows import BatchSource, LazyRows, prepare_rows, raw_rows, select_rows
from aesara_nondecomp.data.sample_weights import check_sample_weight
from aesara_nondecomp.data.scaling import Standardiser
from aesara_nondecomp.data.splits import stratified_folds, stratified_split
from aesara_nondecomp.data.table_columns import TableColumns, read_table
from aesara_nondecomp.data.table_files import TableFiles
from aesara_nondecomp.data.tabular import TableEncoder
from aesara_nondecomp.data.text import Vocabulary, is_text
from aesara_nondecomp.data.tokens import check_tokens

__all__ = [
    "Batch",
    "Dataset",
    "BatchSource",
    "ClassLabels",
    "InputEncoder",
    "Labels",
    "LazyRows",
    "MiniBatches",
    "Standardiser",
    "Table",
    "TableColumns",
    "TableEncoder",
    "TableFiles",
    "Vocabulary",
    "both_classes",
    "check_features",
    "check_finite",
    "check_lengths",
    "check_sample_weight",
    "check_tokens",
    "count_labels",
    "distinct_labels",
    "decode",
    "distinct",
    "encode_as",
    "encode_classes",
    "encode_classes_as",
    "encode_labels",
    "is_text",
    "load",
    "prepare_rows",
    "raw_rows",
    "read",
    "read_csv",
    "read_csv_columns",
    "read_libsvm",
    "read_npz",
    "read_table",
    "select_rows",
    "stratified_folds",
    "stratified_split",
]
