"""The list of all proofs of the switch. ``python -m cosim.formal --block tdm_switch --list`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosim.formal.proof import Book, Case, Proof, each_shape, sentence

from . import cells, changes, commands, grants, matrices, structure
from .mutants import MUTANTS
from .shapes import SHAPES

ALL = each_shape(tuple(name for name in SHAPES if not name.startswith("fair")))


def _of(build: Callable[..., Any], cases: tuple[Case, ...] = ALL, **more: Any) -> Proof:
    family = build.__module__.rpartition(".")[2]
    settings = {"depth": 2, "cover": 16} | more
    return Proof(f"{family}.{build.__name__}", build, cases, sentence(build), **settings)


_SIZES = each_shape(("single", "pair", "three"))
_ORDERS = each_shape(("single", "slow", "three", "odd"))

PROOFS: tuple[Proof, ...] = (
    _of(cells.table_2, each_shape(("single", "pair")), depth=1, cover=2, quick=True),
    _of(cells.table_1, _SIZES, depth=1, cover=2, quick=True),
    _of(cells.greedy, _ORDERS, depth=1, cover=2, quick=True),
    _of(cells.rotation, _ORDERS, depth=1, cover=2),
    _of(cells.pipelined, _SIZES, depth=6, cover=8, quick=True),
    _of(matrices.legal, quick=True),
    _of(grants.of_the_slot, quick=True),
    _of(changes.tables, each_shape(("single", "pair", "three", "units")), cover=10, quick=True),
    _of(changes.returns, each_shape(("single", "pair", "three", "slow")), quick=True),
    _of(changes.served, each_shape(("fair", "fair_wrapped", "fair_three")), depth=4, quick=True),
    _of(commands.preloaded, quick=True),
    _of(commands.staging),
    _of(commands.latches, each_shape(("single", "pair", "three"))),
    _of(structure.no_path, each_shape(("pair", "odd")), depth=0, cover=0),
)

BOOK = Book(SHAPES, PROOFS, MUTANTS, Path(__file__).parent, "tdm_switch")
