"""Files made by hand: the parts of a sound one, with something changed at random, and a checksum that fits."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 10**9, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", "x", "float32",
    "0.5", [], [1], ["a", "a"], [[1, 2], [3]], {}, {"a": 1}, [None] * 3, "\ud800", "a" * 1000,
]  # fmt: skip


def places(values: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each value inside nested dicts and lists."""
    found = [way] if way else []
    inside = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in inside:
        found += places(value, (*way, key))
    return found


def with_value(values: Any, way: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at one place; KeyError as the value removes it."""
    changed = copy.deepcopy(values)
    inner = changed
    for key in way[:-1]:
        inner = inner[key]
    if value is KeyError:
        del inner[way[-1]]
    else:
        inner[way[-1]] = value
    return changed


def changed_header(header: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A header in which a value is another one, or missing."""
    ways = places(header)
    value = [*VALUES, KeyError][rng.integers(len(VALUES) + 1)]
    return with_value(header, ways[rng.integers(len(ways))], value)


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another array in place of one."""
    changes = [
        lambda a: a.reshape(-1)[:-1], lambda a: a[None], lambda a: a.astype("U8"), lambda a: a.astype(complex),
        lambda a: np.array("text"), lambda a: np.zeros(0), lambda a: np.zeros((0, 10**6)), lambda a: a.astype("M8[s]"),
        lambda a: np.full(a.shape, np.nan), lambda a: np.full(a.shape, np.inf), lambda a: np.zeros(a.shape, "V4"),
        lambda a: np.zeros(a.shape, [("a", "i4"), ("b", "f8")]),
    ]  # fmt: skip
    plain = array if array.dtype.kind == "f" else np.zeros(3)
    return changes[rng.integers(len(changes))](plain)


def changed_arrays(arrays: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Arrays of which one is another one, missing, or has another's name."""
    names = sorted(arrays)
    name, other = (names[rng.integers(len(names))] for _ in range(2))
    kind = rng.integers(10)
    if kind == 0:
        return {key: value for key, value in arrays.items() if key != name}
    if kind == 1:
        return {**arrays, name: arrays[other]}
    return {**arrays, name: changed_array(arrays[name], rng)}


def changed_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes of which a few are changed, inserted, removed or repeated."""
    start = int(rng.integers(len(content)))
    end = start + int(rng.integers(1, 9))
    noise = rng.integers(256, size=end - start, dtype=np.uint8).tobytes()
    middle = [noise, noise + content[start:end], b"", content[start:end] * 2, content[: end - start]][rng.integers(5)]
    return content[:start] + middle + content[end:]
