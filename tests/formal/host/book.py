"""The list of all proofs of the bridges. ``python -m cosim.formal --block host --list`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosim.formal.proof import Book, Case, Proof, each_shape, sentence

from . import axi, core, loader, streams, structure
from .mutants import MUTANTS
from .shapes import SHAPES

ALL = each_shape(tuple(SHAPES))


def _of(build: Callable[..., Any], cases: tuple[Case, ...] = ALL, **more: Any) -> Proof:
    family = build.__module__.rpartition(".")[2]
    return Proof(f"{family}.{build.__name__}", build, cases, sentence(build), **({"depth": 2, "cover": 8} | more))


_STAYS = "an access is offered until it has ended"

PROOFS: tuple[Proof, ...] = (
    _of(core.one_access, quick=True, assumes=_STAYS),
    _of(core.writes_once, quick=True, assumes=_STAYS),
    _of(core.reads_once, quick=True, assumes=_STAYS),
    # The only register of the third shape cannot be full and empty.
    _of(core.in_turn, ALL[:2], assumes=_STAYS),
    _of(axi.answers_stay, quick=True),
    _of(axi.one_answer, quick=True),
    _of(structure.no_path, depth=0, cover=0),
    # The third shape has a single register, and no stream out of the network.
    _of(streams.enters_once, quick=True),
    _of(streams.leaves_once, ALL[:2]),
    _of(streams.enters_once_by_timetable),
    _of(streams.leaves_once_by_timetable, ALL[:2], cover=24),
    # An address of no bits, as the third shape has it, is nothing that Yices can be given.
    _of(loader.each_row_once, ALL[:2], cover=16),
    _of(loader.loaded_for_good, ALL[:2], quick=True, cover=16),
)

BOOK = Book(SHAPES, PROOFS, MUTANTS, Path(__file__).parent, "host")
