"""Locks of what threads share: a forked child gets them anew, as the thread that holds one may not exist there."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aesara_nondecomp.networks import Network

_LOCKS: weakref.WeakSet[ForkedLock] = weakref.WeakSet()
_OF_PARAMETERS: weakref.WeakKeyDictionary[Any, TrainingLock] = weakref.WeakKeyDictionary()


class ForkedLock:
    """A lock that is free in a forked child, unless the forking thread holds it and may take it twice.

    Parameters
    ----------
    kind : callable, optional
        Makes the lock. Default: one that its thread may take more than once.
    """

    def __init__(self, kind: Any = threading.RLock) -> None:
        self._kind, self._lock = kind, kind()
        _LOCKS.add(self)

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock.

        Parameters
        ----------
        blocking : bool, default True
            Wait for it.

        Returns
        -------
        bool
            Whether it was taken.
        """
        return bool(self._lock.acquire(blocking))

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Replace the lock if another thread holds it."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = self._kind()


class TrainingLock(ForkedLock):
    """The lock of a network's parameters: one thread at a time trains them, and one training at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._trainer: int | None = None

    @property
    def in_training(self) -> bool:
        """Whether this thread is inside `training`."""
        return self._trainer == threading.get_ident()

    @contextmanager
    def training(self) -> Iterator[None]:
        """Hold the lock for one training; another thread's waits for it.

        Raises
        ------
        RuntimeError
            If this thread is in a training of these parameters already, as in a callback of `fit`.
        """
        with self:
            if self.in_training:
                raise RuntimeError(
                    "these functions are in training, and a callback cannot train them too: give the other training a "
                    "network of its own, or start it after this one"
                )
            self._trainer = threading.get_ident()
            try:
                yield
            finally:
                self._trainer = None

    def take(self) -> None:
        """Take the lock for one step, until `release`.

        Raises
        ------
        RuntimeError
            If another thread trains these parameters.
        """
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "another thread trains these functions: give each thread functions of its own, or hold their `lock` "
                "during the whole training"
            )

    def renew(self) -> None:
        super().renew()
        if not self.in_training:
            self._trainer = None


def lock_of(network: Network) -> TrainingLock:
    """The lock of a network; networks that share parameters, as a network and its head, share it.

    Parameters
    ----------
    network : Network
        Whose parameters are trained.

    Returns
    -------
    TrainingLock
    """
    known = [_OF_PARAMETERS[p] for p in network.parameters if p in _OF_PARAMETERS]
    lock = known[0] if known else TrainingLock()
    _OF_PARAMETERS.update(dict.fromkeys(network.parameters, lock))
    return lock


def _renew_all() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
