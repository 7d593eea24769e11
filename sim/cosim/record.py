"""Record of a run: cycles, accesses and results of every processor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.runtime.api.requests import Category
from pointsman.runtime.api.unread import Moved

EVENT = np.dtype([("time", "i8"), ("node", "i4"), ("register", "i2"), ("write", "?"), ("word", "u8")], align=True)
"""One access of a processor: ``word`` was written or read in cycle ``time``."""


State = dict[str, np.ndarray]
"""Architectural state of hardware by name; the first axis is the node. Values that are not valid at the moment are 0."""


@dataclass(frozen=True, eq=False)
class Record:
    """Cycles, accesses and results of a run.

    Parameters
    ----------
    started : int
        Cycle in which the programs started; 0 in the first run of a machine.
    cycles : int64 array, nodes × categories
        Cycles of each processor by `Category`, from the start to the end of its program.
    finished : int64 array, nodes
        Cycle in which each program ended; ``started`` where there was none.
    accesses : int64 array, nodes × 2
        Words that each processor wrote (column 0) and read (column 1).
    results : list
        Return value of each program.
    wall_seconds : float
        Time that the simulation took.
    events : array of EVENT, or None
        Every access, in order of time and node, if asked for.
    stopped : int or None
        Cycle in which the run was stopped before its programs had ended.
    moved : dict
        By node, the messages that it has written and read (`pointsman.runtime.api.unread`); empty where no application ran.
    """

    started: int
    cycles: np.ndarray
    finished: np.ndarray
    accesses: np.ndarray
    results: list[Any]
    wall_seconds: float
    events: np.ndarray | None = None
    stopped: int | None = None
    moved: dict[int, Moved] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        return len(self.finished)

    @property
    def total_cycles(self) -> int:
        """Cycles from the start to the end of the last program, or to where the run was stopped."""
        return (int(self.finished.max()) if self.stopped is None else self.stopped) - self.started

    @property
    def node_cycles_per_second(self) -> float:
        """Speed of the simulation."""
        return self.nodes * self.total_cycles / max(self.wall_seconds, 1e-9)

    @property
    def mean_cycles(self) -> dict[str, float]:
        """Cycles by name of the category, mean over the nodes."""
        means = self.cycles.mean(axis=0)
        return {category.name.lower(): float(means[category]) for category in Category}

    def differences(self, other: Record) -> list[str]:
        """Names of the fields in which two records differ, ``wall_seconds`` left out; empty for equal runs."""
        found = []
        if self.started != other.started:
            found.append("started")
        for name in ("cycles", "finished", "accesses"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                found.append(name)
        if not _same(self.results, other.results):
            found.append("results")
        if self.events is not None and other.events is not None and not _same(self.events, other.events):
            found.append("events")
        return found


def _same(one: Any, two: Any) -> bool:
    """Equality that looks into arrays and the containers around them."""
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        if type(one) is not type(two) or one.dtype != two.dtype:
            return False
        return np.array_equal(one, two, equal_nan=np.issubdtype(one.dtype, np.inexact))
    if type(one) is not type(two):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(_same(value, two[key]) for key, value in one.items())
    return bool(one == two) or (isinstance(one, float) and one != one and two != two)
