"""The list of all proofs of the packet router. ``python -m cosim.formal --block packet_router --list`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosim.formal.proof import Book, Case, Proof, each_shape, sentence

from . import buffers, channels, queues, structure, turns, ways
from .mutants import MUTANTS
from .shapes import SHAPES

ALL = each_shape(tuple(SHAPES))


def _of(build: Callable[..., Any], cases: tuple[Case, ...] = ALL, **more: Any) -> Proof:
    family = build.__module__.rpartition(".")[2]
    settings = {"depth": 2, "cover": 14} | more
    return Proof(f"{family}.{build.__name__}", build, cases, sentence(build), **settings)


_KEEPS = "senders keep to their credits"
_ASKS = "inputs ask for free channels, and send where they own one and there is room"

PROOFS: tuple[Proof, ...] = (
    _of(turns.fair, each_shape(("line", "plane")), quick=True),
    _of(buffers.in_order, quick=True, assumes=f"{_KEEPS}; what is taken is there"),
    _of(channels.of_links, quick=True, assumes=_ASKS),
    _of(channels.of_addresses, assumes=_ASKS),
    _of(queues.in_order, quick=True, assumes=_KEEPS),
    _of(queues.dropped, assumes=_KEEPS),
    _of(queues.sends),
    _of(ways.one_way, quick=True, assumes="routes want one link a dimension at most, as `ways.same_route` says"),
    _of(ways.same_route),
    _of(ways.kept_lane),
    _of(structure.no_path, depth=0, cover=0),
)

BOOK = Book(SHAPES, PROOFS, MUTANTS, Path(__file__).parent, "packet_router")
