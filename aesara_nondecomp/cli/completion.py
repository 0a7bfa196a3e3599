"""Completion of commands and options in the shell, by shtab (extra ``completion``)."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")
_FILES = ("data", "model", "other", "out", "report", "html")  # arguments that are paths


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Make the script that a shell reads.

    Parameters
    ----------
    parser : ArgumentParser
        Of the whole command line.
    shell : {"bash", "zsh", "fish"}
        The shell.

    Returns
    -------
    str

    Raises
    ------
    ImportError
        If shtab is missing.
    """
    try:
        import shtab
    except ImportError:
        raise ImportError("completion needs shtab: pip install 'aesara-nondecomp[completion]'") from None
    for action in _all_actions(parser):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # what shtab looks for
    return str(shtab.complete(parser, shell=shell))


def _all_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a parser and of its commands."""
    actions: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            actions += [each for command in action.choices.values() for each in _all_actions(command)]
        else:
            actions.append(action)
    return actions
