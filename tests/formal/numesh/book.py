"""The list of all proofs. ``python -m cosim.formal --list`` prints it, ``make formal`` runs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any

from cosim.formal.proof import Book, Case, Proof, each_shape, sentence

from . import chains, full_bits, interface, links, reprogram, structure, undisturbed
from .mutants import MUTANTS
from .shapes import SHAPES
from .view import WINDOW

ALL = each_shape(tuple(SHAPES))
LAST = tuple(Case(name, shape.pipelines - 1) for name, shape in SHAPES.items())
"""The last pipeline, over which all others have precedence."""
CHAINED = (*LAST, Case("odd", 0))

_OWN = "no other VFSM of the pipeline names the buffers of the chain"
_LINK = "no two pipelines use one link in one slot"


def _chain(
    name: str,
    build: Callable[..., Any],
    about: str,
    assumes: str,
    *,
    cases: tuple[Case, ...] = CHAINED,
    cover: int = 20,
    quick: bool = False,
) -> Proof:
    return Proof(
        f"chains.{name}",
        build,
        cases,
        f"{about}: each word leaves once, in order, and none is lost, whatever schedule and phases",
        depth=WINDOW,
        cover=cover,
        assumes=assumes,
        quick=quick,
    )


def _of(build: Callable[..., Any], cases: tuple[Case, ...] = ALL, **more: Any) -> Proof:
    family = build.__module__.rpartition(".")[2]
    settings = {"depth": WINDOW, "cover": 16} | more
    return Proof(f"{family}.{build.__name__}", build, cases, sentence(build), **settings)


def _forks(legs: int) -> Callable[..., Any]:
    return update_wrapper(partial(chains.fork, legs=legs), chains.fork)


_FORK = f"{_OWN}; {_LINK}; a second leg follows its first (NUM-10)"

PROOFS: tuple[Proof, ...] = (
    _of(links.offered),
    _of(links.taken),
    _of(
        links.kept,
        CHAINED,
        quick=True,
        cover=22,  # in words of three bits a command takes seven
        assumes="the VFSM writes to links, by moves of any type; no other names its buffer, nor does itself",
    ),
    _chain("straight", chains.straight, "link to link", f"{_OWN}; {_LINK}"),
    _chain("delay", chains.delay, "link to own buffer to link", f"{_OWN}; {_LINK}", cover=28),
    _chain(
        "merge",
        chains.merge,
        "link to another VFSM's buffer to link, others merging",
        "no other VFSM names the buffers of the chain, but to merge; merged words differ in a bit; " + _LINK,
        cover=28,
        quick=True,
    ),
    _chain("fork", _forks(2), "link to two links at once", _FORK, quick=True),
    _chain("fork_three", _forks(3), "link to three links, pairwise", _FORK, cover=24, cases=CHAINED[1:]),
    _chain(
        "from_processor",
        chains.from_processor,
        "processor to link",
        f"{_OWN}, nor the register; {_LINK}; the processor does not read the register",
    ),
    _chain(
        "to_processor",
        chains.to_processor,
        "link to processor",
        f"{_OWN}, nor the register; {_LINK}; the processor does not write the register",
    ),
    _of(undisturbed.buffers, quick=True),
    _of(undisturbed.registers),
    _of(undisturbed.links),
    _of(undisturbed.memories),
    _of(undisturbed.sources),
    _of(undisturbed.destinations),
    _of(undisturbed.followers),
    _of(reprogram.entries),
    _of(reprogram.annotations),
    _of(reprogram.pointer, quick=True),
    _of(reprogram.slots),
    _of(
        interface.flow_control,
        quick=True,
        assumes="pipelines ask for registers that exist, of two none for that of the other, and put no word over another; "
        "the processor or pipelines read the register, not both; the processor writes to an empty place",
    ),
    _of(
        full_bits.look_ups, quick=True, depth=3, cover=8, assumes="no event fills and empties the same buffer; no reset"
    ),
    _of(full_bits.reset, depth=2, cover=12),
    _of(structure.no_path, depth=0, cover=0),
)

BOOK = Book(SHAPES, PROOFS, MUTANTS, Path(__file__).parent)
