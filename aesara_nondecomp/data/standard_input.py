"""Standard input as delimited text: its rows as they come, or all of it from a temporary file."""

from __future__ import annotations

import re
import select
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

from aesara_nondecomp.data.csv_headers import DELIMITERS, lines_of

PIECE_BYTES = 2**20  # of rows that come without a pause
_READ_BYTES = 2**16
_PAUSE = 0.05  # seconds without new bytes, after which the rows so far are passed on


class StandardInput:
    """Standard input, which is there once: read `first_lines`, and then either `pieces` or `spooled`."""

    def __init__(self) -> None:
        self._stream: Any = sys.stdin.buffer
        self._head = b""  # read, and not passed on
        self._held = ExitStack()

    def __enter__(self) -> StandardInput:
        return self

    def __exit__(self, *error: Any) -> None:
        self._held.close()

    def first_lines(self) -> list[str]:
        """Read as many lines as tell the header: up to the first row, or whatever comes with it.

        Returns
        -------
        list of str
        """
        while self._needs_lines():
            more = self._stream.read1(_READ_BYTES)
            if not more:
                return lines_of(self._head)
            self._head += more
        return self._whole_lines()

    def pieces(self, delimiter: str) -> Iterator[bytes | None]:
        """Pass on whole rows, from the first line on, whenever `PIECE_BYTES` are there or no more come for now.

        Parameters
        ----------
        delimiter : str
            One character.

        Yields
        ------
        bytes or None
            Rows; or None where no more come for now.
        """
        halved = False  # whether the rows so far end between "\r" and "\n", which alone would be a blank line
        while True:
            ready = self._is_ready()
            if not ready or len(self._head) >= PIECE_BYTES:
                ended = end_of_rows(self._head, delimiter)
                rows, self._head = self._head[:ended], self._head[ended:]
                if rows:
                    halved = rows.endswith(b"\r") and not self._head
                    yield rows
                if not ready:
                    yield None
            more = self._stream.read1(_READ_BYTES)
            if not more:
                break
            self._head += more[1:] if halved and more.startswith(b"\n") else more
            halved = False
        if self._head:
            yield self._head

    def spooled(self) -> IO[bytes]:
        """Read all to a temporary file without a name, which takes no memory and is gone when this is closed.

        Returns
        -------
        binary file
        """
        file = self._held.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        file.write(self._head)
        shutil.copyfileobj(self._stream, file)
        file.seek(0)
        return file

    def _needs_lines(self) -> bool:
        """Whether the header, or a row below it, is still to come."""
        lines = [line.lstrip('"') for line in self._whole_lines() if line.strip()]
        return sum(not line.lower().startswith(("#", "sep=")) for line in lines) < 2

    def _whole_lines(self) -> list[str]:
        return lines_of(self._head[: end_of_rows(self._head, "".join(DELIMITERS))])

    def _is_ready(self) -> bool:
        """Whether bytes, or the end, come without a pause."""
        try:
            return bool(select.select([self._stream.fileno()], [], [], _PAUSE)[0])
        except OSError:  # no file of the system, but in memory
            return True


def end_of_rows(text: bytes, delimiters: str) -> int:
    """Find where the last whole row of delimited text ends: a line may end within quotes.

    Parameters
    ----------
    text : bytes
        From the beginning of a row.
    delimiters : str
        Characters after which a quote begins a cell.

    Returns
    -------
    int
        0 if no row is whole.
    """
    if b'"' in text:
        begins = rb"(?:\A|(?<=[\r\n" + re.escape(delimiters).encode() + rb"]))"
        quoted = begins + rb'"[^"]*(?:""[^"]*)*(?:"|\Z)'
        text = re.sub(quoted, lambda found: b" " * len(found[0]), text)
    return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
