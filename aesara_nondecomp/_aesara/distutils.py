"""What Aesara takes from distutils, by the standard library: setuptools' copy of it takes 0.2 s to import."""

from __future__ import annotations

import sysconfig
from shutil import which as find_executable
from sysconfig import get_config_h_filename, get_config_var


class CompileError(Exception):
    """The base of Aesara's error of that name."""


def get_python_inc(plat_specific: bool = False) -> str:
    """The folder of Python's headers."""
    return sysconfig.get_path("platinclude" if plat_specific else "include")


def get_python_lib(plat_specific: bool = False, standard_lib: bool = False) -> str:
    """The folder of the standard library or of installed packages."""
    if standard_lib:
        return sysconfig.get_path("platstdlib" if plat_specific else "stdlib")
    return sysconfig.get_path("platlib" if plat_specific else "purelib")


__all__ = [
    "CompileError",
    "find_executable",
    "get_config_h_filename",
    "get_config_var",
    "get_python_inc",
    "get_python_lib",
]
