"""Modules that are compiled at the same time, where Aesara compiles one after the other.

Aesara asks its cache for the module of one Op after the other, and waits for the compiler each time. The first Op whose
module is missing has those of the whole graph compiled here, each by a compiler of its own, one for each processor.
They are put into the cache as if Aesara had compiled them.
"""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aesara_nondecomp._aesara.imports import aesara

_cmodule = aesara.link.c.cmodule


def linker_of(node: Any, no_recycling: Collection[Any] = ()) -> Any:
    """Make Aesara's linker of a single Op.

    Parameters
    ----------
    node : Apply
        The Op with its inputs and outputs.
    no_recycling : collection of variables, optional
        Outputs whose arrays are not used again in the next call.

    Returns
    -------
    aesara.link.c.basic.CLinker
        Knows the module's key and source, and how to compile it.
    """
    graph = aesara.graph.fg.FunctionGraph(node.inputs, node.outputs)
    fresh = [new for new, old in zip(graph.outputs, node.outputs) if old in no_recycling]
    return aesara.link.c.basic.CLinker().accept(graph, no_recycling=fresh)


class GraphCache:
    """Aesara's cache of modules, for the Ops of one graph.

    Parameters
    ----------
    nodes : iterable of Apply
        Ops with their inputs and outputs, whose modules are compiled as soon as one of them is missing.
    """

    def __init__(self, nodes: Iterable[Any]) -> None:
        self._nodes = nodes

    def module_from_key(self, key: Any, lnk: Any) -> Any:
        """Give Aesara the module of an Op.

        Parameters
        ----------
        key : tuple
            By which Aesara knows the module.
        lnk : aesara.link.c.basic.CLinker
            The Op's linker.

        Returns
        -------
        module
        """
        cache = aesara.link.c.basic.get_module_cache()
        if key not in cache.entry_from_key:
            # Other processes wait for all modules, lest they compile the same ones meanwhile.
            with aesara.compile.compilelock.lock_ctx():
                cache.refresh(cleanup=False)
                self._compile_missing(cache)
        return cache.module_from_key(key, lnk)

    def _compile_missing(self, cache: Any) -> None:
        """Compile what the cache lacks; what fails is left to Aesara, which says why and where."""
        with ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as folder:
            try:
                jobs = [(key, _Job(linker, Path(folder), pool)) for key, linker in self._missing(cache)]
                # Aesara's own modules, which it compiles when it first needs them.
                importlib.import_module("aesara.link.c.cutils")
                importlib.import_module("aesara.link.c.cvm")
                for key, job in jobs:
                    if job.succeeds():
                        cache.module_from_key(key, job)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _missing(self, cache: Any) -> list[tuple[Any, Any]]:
        """Keys and linkers of the modules that the cache lacks, each once, the longest first."""
        missing: dict[str, tuple[Any, Any]] = {}
        for node in dict.fromkeys(self._nodes):
            linker = linker_of(node)
            key = linker.cmodule_key()
            if key not in cache.entry_from_key:
                module_hash = _cmodule.get_module_hash(linker.get_src_code(), key)
                if module_hash not in cache.module_hash_to_key_data:
                    missing.setdefault(module_hash, (key, linker))
        return sorted(missing.values(), key=lambda entry: -len(entry[1].get_src_code()))


class _Job:
    """A module that is being compiled; to Aesara's cache, the linker that compiles it."""

    def __init__(self, linker: Any, folder: Path, pool: ThreadPoolExecutor) -> None:
        self.get_src_code = linker.get_src_code
        name = linker.get_dynamic_module().code_hash
        self._folder = folder / name
        self._folder.mkdir()
        # As the linker's `compile_cmodule`, but for the lock, which the main thread holds, and the import.
        self._done: Future[None] = pool.submit(
            linker.c_compiler().compile_str,
            name,
            linker.get_src_code(),
            location=str(self._folder),
            include_dirs=linker.header_dirs(),
            lib_dirs=linker.lib_dirs(),
            libs=linker.libraries(),
            preargs=linker.compile_args(),
            py_module=False,
        )

    def succeeds(self) -> bool:
        return self._done.exception() is None

    def compile_cmodule(self, location: str) -> Any:
        """Move the module to its place in the cache, and import it."""
        for file in self._folder.iterdir():
            shutil.move(str(file), location)
        Path(location, "__init__.py").touch()
        return _cmodule.dlimport(_cmodule.module_name_from_dir(location))
