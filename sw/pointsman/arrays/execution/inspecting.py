"""An inspector for subscripts that are not affine: which elements are read through them in a run, and only these are sent.

The analysis takes such a subscript for the whole dimension. If index arrays stay as they are, a run that inspects finds once what
they pick, and what is compiled afterwards sends that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointsman.arrays.tree.meaning import Watcher
from pointsman.arrays.tree.statements import Redistribute, Statement

from .homes import Homes, first_distribution, redistributed
from .sites import Site, Sites
from .transfers import Transfers

ANY = "any'"
"""How names begin that stand for a subscript which is not affine."""


class Inspector(Watcher):
    """Follows a run, and notes which elements each processor reads.

    Attributes
    ----------
    read_by : ndarray of bool
        A row a processor, an entry an element.
    """

    def __init__(self, homes: Homes) -> None:
        self.homes = homes
        self.state = first_distribution(homes.program)
        self.read_by = np.zeros((homes.program.grid.size, homes.size), bool)

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        if isinstance(statement, Redistribute):
            self.state = redistributed(self.state, statement.template, statement.spreads)

    def read(self, reader: tuple[str, tuple[int, ...]] | None, array: str, element: tuple[int, ...]) -> None:
        at = self.number(array, element) + self.homes.start[array]
        owners = None if reader is None else self.homes.owners(reader[0], self.state)
        if reader is None or owners is None:
            self.read_by[:, at] = True
        else:
            self.read_by[owners[self.number(*reader)], at] = True

    def number(self, array: str, element: tuple[int, ...]) -> int:
        """Number of an element in its array."""
        found = 0
        for at, (low, high) in zip(element, self.homes.program.arrays[array].bounds, strict=True):
            found = found * (high - low + 1) + at - low
        return found


@dataclass(frozen=True)
class Inspected:
    """Sites without what nobody reads, and the elements that sites with irregular subscripts had, and have."""

    sites: Sites
    before: int
    after: int


def inspected(sites: Sites, inspector: Inspector) -> Inspected:
    """Sites whose irregular communications carry what was read alone; all others stay as they are."""
    counts = [0, 0]
    found: dict[Statement, tuple[Site, ...]] = {}
    for statement, here in sites.before.items():
        made = []
        for site in here:
            if not irregular(site):
                made.append(site)
                continue
            variants = {key: _less(of, inspector) for key, of in site.variants.items()}
            for at, every in enumerate((site.variants, variants)):
                counts[at] += sum(len(what) for of in every.values() for what in of.values())
            if any(variants.values()):
                made.append(Site(site.number, site.statement, site.message, site.free, variants))
        found[statement] = tuple(made)
    return Inspected(Sites(sites.program, sites.homes, found, sites.rounds), *counts)


def irregular(site: Site) -> bool:
    """Does a message carry elements whose subscripts are not affine?"""
    return any(ANY in bound.name for one in site.message or () for bound in one.bound)


def _less(transfers: Transfers, inspector: Inspector) -> Transfers:
    found = {(start, end): what[inspector.read_by[end][what]] for (start, end), what in transfers.items()}
    return {pair: what for pair, what in found.items() if len(what)}
