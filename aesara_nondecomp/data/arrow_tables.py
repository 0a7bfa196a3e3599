"""Tables that pyarrow reads batch by batch: Parquet files, its data sets, and its tables in memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from aesara_nondecomp.data.csv_cells import arrow_blocks
from aesara_nondecomp.data.files import COMPRESSIONS, PathLike, existing_file, open_binary, readable
from aesara_nondecomp.data.table_columns import check_unique
from aesara_nondecomp.data.table_parts import check_same_names, files_of, is_several

_BATCH_ROWS, _BUFFER_BYTES = 2**16, 2**16


class ArrowTable(NamedTuple):
    """A table of pyarrow, on a disk or in memory; made by `open_arrow`.

    Attributes
    ----------
    dataset : pyarrow.dataset.Dataset
        The rows.
    source : object
        Where they come from, for messages.
    in_files : bool
        Whether they are those of Parquet files that were named, as they stand there: a data set may be filtered.
    """

    dataset: Any
    source: Any
    in_files: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, without those that pandas wrote for the index of a data frame."""
        index = _index_columns(self.dataset.schema)
        return tuple(name for name in self.dataset.schema.names if name not in index)

    def count_rows(self) -> int:
        """Number of rows, which files of these formats say."""
        return int(self._readable(self.dataset.count_rows))

    def read(self, names: Sequence[str]) -> dict[str, Any]:
        """Read some of the columns.

        Parameters
        ----------
        names : sequence of str
            The columns.

        Returns
        -------
        dict of str to pandas.Series

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        return _series(self._readable(lambda: self.dataset.to_table(columns=list(names))))

    def blocks(self, names: Sequence[str], rows: int) -> Iterator[dict[str, Any]]:
        """Read some of the columns block by block, in memory for a block and the batches that are being read.

        Parameters
        ----------
        names : sequence of str
            The columns.
        rows : int
            Number of rows of each block but the last one.

        Yields
        ------
        dict of str to pandas.Series

        Raises
        ------
        ValueError
            If there are no rows, or a file is damaged.
        """
        batches = self._batches(names)
        empty = True
        for block in arrow_blocks(batches, rows):
            empty = False
            yield _series(block)
        if empty:
            raise ValueError(f"{self.source} must hold rows, got none. Check that it is complete.")

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        if self.in_files:
            batches = self._batches_of_files(names)
        else:  # what is read ahead by default takes as much memory as several files
            ahead = {"batch_readahead": 1, "fragment_readahead": 1}
            batches = self._readable(
                lambda: self.dataset.to_batches(columns=list(names), batch_size=_BATCH_ROWS, **ahead)
            )
        while (batch := self._readable(lambda: next(batches, None))) is not None:
            yield batch

    def _batches_of_files(self, names: Sequence[str]) -> Iterator[Any]:
        """Batches by the reader of one file, as a data set would hold whole row groups in memory."""
        import pyarrow
        from pyarrow import dataset, parquet

        schema = pyarrow.schema([self.dataset.schema.field(name) for name in names])
        for fragment in self.dataset.get_fragments():
            keys = dataset.get_partition_keys(fragment.partition_expression)
            stored = [name for name in names if name not in keys]
            with parquet.ParquetFile(fragment.path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
                for batch in file.iter_batches(_BATCH_ROWS, columns=stored):
                    columns = [
                        pyarrow.repeat(pyarrow.scalar(keys[field.name], field.type), batch.num_rows)
                        if field.name in keys
                        else batch.column(field.name).cast(field.type)
                        for field in schema
                    ]
                    yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    def _readable(self, read: Callable[[], Any]) -> Any:
        return readable(self.source, read)


def is_arrow(source: Any) -> bool:
    """Whether an object is a table or a data set of pyarrow, which is not imported here.

    Parameters
    ----------
    source : object
        Any object.

    Returns
    -------
    bool
    """
    kinds = (("pyarrow", "Table"), ("pyarrow", "RecordBatch"), ("pyarrow.dataset", "Dataset"))
    modules = ((sys.modules.get(module), kind) for module, kind in kinds)
    return any(module is not None and isinstance(source, getattr(module, kind)) for module, kind in modules)


def open_arrow(source: Any) -> ArrowTable:
    """Open a table that pyarrow reads.

    Parameters
    ----------
    source : path-like, sequence of path-like, pyarrow.dataset.Dataset, pyarrow.Table or pyarrow.RecordBatch
        Parquet files, as for `files_of`. The folders in a folder may name columns, such as year=2024.

    Returns
    -------
    ArrowTable

    Raises
    ------
    ValueError
        If a file is damaged, names a column twice, holds one that a folder names, or its columns are not those of the
        first file.
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow or pandas is missing; naming the extra that brings it.
    """
    try:
        import pandas  # noqa: F401  # its data frames are what is read
        from pyarrow import dataset
    except ImportError as error:
        raise ImportError(f"reading {source} needs more: pip install 'aesara-nondecomp[files]' ({error})") from None
    if isinstance(source, dataset.Dataset):
        found = ArrowTable(source, "the data set")
    elif is_arrow(source):
        found = ArrowTable(dataset.dataset(source), "the table of pyarrow")
    else:
        found = _table_of_files(source)
    check_unique(found.dataset.schema.names)
    return found


def _table_of_files(source: PathLike | Sequence[PathLike]) -> ArrowTable:
    from pyarrow import dataset, parquet

    paths = files_of(source)
    for path in paths:
        existing_file(path)
    if len(paths) == 1 and os.path.splitext(paths[0])[1].lower() in COMPRESSIONS:
        with open_binary(paths[0]) as file:
            table = readable(paths[0], lambda: parquet.read_table(file))
        return ArrowTable(dataset.dataset(table), source)
    several = not isinstance(source, (str, os.PathLike)) or is_several(source)
    folder = os.fspath(source) if several and isinstance(source, (str, os.PathLike)) else None
    options: dict[str, Any] = {"partitioning": "hive"} if several else {}
    if folder is not None and os.path.isdir(folder):
        options["partition_base_dir"] = folder
    if several:
        _check_folders(paths, Path(options.get("partition_base_dir", "")))
    found = readable(source, lambda: dataset.dataset(paths, format="parquet", **options))
    return ArrowTable(found if len(paths) == 1 else _of_one_schema(found), source, in_files=True)


def _named_by_folders(path: str, base: Path) -> dict[str, str]:
    """The columns that the folders of a file name, with these names."""
    folders = [part for part in Path(path).parent.parts[len(base.parts) :] if "=" in part]
    return {unquote(folder.partition("=")[0]): folder for folder in folders}


def _check_folders(paths: Sequence[str], base: Path) -> None:
    """Refuse files that hold a column which a folder below `base` names too, as the two may differ."""
    from pyarrow import parquet

    named = {path: _named_by_folders(path, base) for path in paths}
    of_all = {name: folder for own in named.values() for name, folder in own.items()}
    for path in paths if of_all else ():
        given = {**of_all, **named[path]}
        for name in readable(path, partial(parquet.read_schema, path)).names:
            if name in given:
                raise ValueError(
                    f"a column must come from the files of a table or from the names of their folders, but {name!r} is "
                    f"in {path} and in the folder name {given[name]!r}. Drop it from the files, or pass "
                    "pyarrow.dataset.dataset(...) of them, which does not read the names."
                )


def _of_one_schema(found: Any) -> Any:
    """A data set whose files all have the columns of the first one; one that is empty in a file has any type there."""
    import pyarrow

    fragments = list(found.get_fragments())
    schemas = [readable(fragment.path, partial(getattr, fragment, "physical_schema")) for fragment in fragments]
    merged = schemas[0]
    for fragment, schema in zip(fragments, schemas):
        check_same_names(fragments[0].path, schemas[0].names, fragment.path, schema.names)
        _check_same_index(fragments[0].path, schemas[0], fragment.path, schema)
        try:
            merged = pyarrow.unify_schemas([merged, schema])
        except pyarrow.ArrowException:
            name = next(name for name in merged.names if not _alike(merged.field(name), schema.field(name)))
            raise ValueError(
                f"the files of a table must have columns of the same types, but {name!r} is {schema.field(name).type} "
                f"in {fragment.path} and {merged.field(name).type} in files before. Write it alike in all of them."
            ) from None
    partitions = [field for field in found.schema if field.name not in merged.names]
    return found.replace_schema(pyarrow.schema([*merged, *partitions], schemas[0].metadata))


def _check_same_index(first: str, schema: Any, path: str, found: Any) -> None:
    """Refuse a file whose pandas index is not that of the first file, which says which columns are left out."""
    index = _index_columns(schema)
    differing = sorted(index ^ _index_columns(found))
    if differing:
        of = [first, path] if differing[0] in index else [path, first]
        raise ValueError(
            f"the files of a table must have the same columns, but {differing[0]!r} is the index of a data frame in "
            f"{of[0]} and a column in {of[1]}. Write it alike in all of them: as a column by reset_index()."
        )


def _index_columns(schema: Any) -> set[str]:
    """The columns that pandas wrote for the index of a data frame; an index that counts the rows has none."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return {name for name in schema.names if name in index}


def _alike(first: Any, second: Any) -> bool:
    import pyarrow

    return first.type == second.type or pyarrow.null() in (first.type, second.type)


def _series(table: Any) -> dict[str, Any]:
    """The columns of a table of pyarrow as those of a data frame."""
    frame = table.to_pandas()
    return {str(name): frame[name] for name in frame.columns}
