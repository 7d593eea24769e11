"""A quick cycle model of the switch with its network interfaces, for 128 ports and long runs.

One cycle is one cycle of ``hdl/tdm_switch``: same decisions of the scheduler, same words in the same cycles
(``tests/sim/cosim/tdm/test_fast.py`` compares grants and words with the RTL). It leaves out commands (their effects are given
at the start), wide connections, preemption, several units, and input buffers that fill up: processors take words at once. It adds
parts of the paper's evaluation outside the switch: delays of cables, whole messages put into queues by a DMA engine, and
preloaded registers that go on to the next configuration of a list when their messages are sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tdm_switch.codes import Predictor
from tdm_switch.shape import SwitchShape

from .fast_kernel import NOBODY, run_cycles
from .traffic import SwitchTraffic

STATE = ("tick", "place", "phase", "row", "column", "slot", "opened", "random")
"""Scalars of the scheduler's state, in the order of the kernel's array."""


@dataclass(frozen=True)
class Delays:
    """Cycles on the way: a request to the scheduler, a grant to the processor, a word from sender to receiver."""

    request: int = 0
    grant: int = 0
    word: int = 0


@dataclass(frozen=True)
class Preload:
    """Configurations preloaded into registers: configuration c starts in slot c, as far as there are registers.

    When all words of a configuration are sent, its register takes the next unused configuration of the list, ``load`` cycles
    later. ``until[c][u]``: words sent from u to its destination in configuration c, counted from the start, by that time.
    """

    configurations: tuple[tuple[int, ...], ...] = ()
    """Destination of every input, -1 for none."""
    registers: int = 0
    until: tuple[tuple[int, ...], ...] = ()
    load: int = 0


@dataclass
class State:
    """State of the scheduler: scalars of ``STATE``, and matrices as the destination of every input."""

    scalars: dict[str, int]
    realised: np.ndarray
    copy: np.ndarray
    dynamic: np.ndarray
    preloaded: np.ndarray
    threshold: int = 0
    predictor: Predictor = Predictor.NONE


@dataclass(frozen=True)
class SwitchRun:
    """Results of a run.

    ``cycles``: until the last word arrived, -1 if that exceeded the limit. If a trace was asked for, ``grants[c, u]`` is the
    destination granted to u in cycle c, and ``words[c, u]`` the destination of the word that u sent in it.
    """

    cycles: int
    sent: np.ndarray
    grants: np.ndarray
    words: np.ndarray
    state: State | None = field(default=None, repr=False)


def fresh(shape: SwitchShape) -> State:
    """State after reset."""
    n, k = shape.ports, shape.slots
    random = 0xACE1
    scalars = dict.fromkeys(STATE, 0) | {"tick": shape.slot_cycles - 1, "place": NOBODY, "random": random}
    if shape.priority == "random":
        mask = (1 << max(1, (n - 1).bit_length())) - 1
        scalars |= {"row": (random & mask) % n, "column": (random >> 8 & mask) % n}
    empty = np.full((k, n), NOBODY, np.int64)
    return State(scalars, empty, np.full(n, NOBODY, np.int64), np.ones(k, np.bool_), empty.copy())


@dataclass(frozen=True)
class Pace:
    """Rate at which processors send.

    A processor writes ``rate`` words a cycle into the queue of the destination while the queue has room, and begins a
    message when fewer than ``window`` of its messages have unsent words.
    """

    rate: int = 1
    window: int = 1 << 30


def run(
    shape: SwitchShape,
    traffic: SwitchTraffic,
    *,
    state: State | None = None,
    preload: Preload | None = None,
    delays: Delays | None = None,
    pace: Pace = Pace(),
    limit: int = 1_000_000,
    trace: int = 0,
) -> SwitchRun:
    """Run the programs of all processors until everything has arrived.

    Parameters
    ----------
    shape : SwitchShape
        ``sl_units`` must be 1.
    traffic : SwitchTraffic
        Messages of every processor, in order.
    state : State, optional
        Where to begin; by default after reset.
    limit : int
        Cycles after which to give up.
    trace : int
        Number of cycles whose grants and words are kept.
    """
    if shape.sl_units != 1:
        raise ValueError(f"the quick model has one scheduling unit, not {shape.sl_units}")
    state = state or fresh(shape)
    preload = preload or Preload()
    delays = delays or Delays()
    n, k = shape.ports, shape.slots
    realised, preloaded = state.realised.copy(), state.preloaded.copy()
    dynamic = state.dynamic.copy()
    lists = np.array(preload.configurations, np.int64).reshape(-1, n)
    until = np.array(preload.until, np.int64).reshape(-1, n)
    holds = np.full(k, NOBODY, np.int64)
    for slot in range(preload.registers):
        dynamic[slot] = False
        if slot < len(lists):
            realised[slot] = preloaded[slot] = lists[slot]
            holds[slot] = slot
    scalars = np.array([state.scalars[name] for name in STATE], np.int64)
    predictor = np.array([int(state.predictor), state.threshold], np.int64)
    options = np.array(
        [
            *(shape.slot_cycles, shape.guard_cycles, shape.sl_cycles, shape.order == "wrapped", shape.reserves),
            *(("fixed", "round_robin", "random").index(shape.priority), shape.queue_depth),
            *(
                delays.request,
                delays.grant,
                delays.word,
                pace.rate,
                pace.window,
                limit,
                preload.load,
                preload.registers,
            ),
        ],
        np.int64,
    )
    grants = np.full((trace, n), NOBODY, np.int64)
    words = np.full((trace, n), NOBODY, np.int64)
    copy = state.copy.copy()
    sent = np.zeros((n, n), np.int64)
    cycles = run_cycles(
        *(traffic.first, traffic.destinations, traffic.words, realised, preloaded, dynamic, copy, scalars),
        *(predictor, options, lists, until, holds, sent, grants, words),
    )
    after = State(dict(zip(STATE, scalars.tolist(), strict=True)), realised, copy, dynamic, preloaded)
    return SwitchRun(int(cycles), sent, grants, words, after)


def until_of(configurations: Sequence[Sequence[int]], words: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Running totals for ``Preload.until``, from the words that each configuration is to carry for each input."""
    total: dict[tuple[int, int], int] = {}
    rows = []
    for row, amounts in zip(configurations, words, strict=True):
        line = []
        for u, (v, amount) in enumerate(zip(row, amounts, strict=True)):
            if v >= 0:
                total[u, v] = total.get((u, v), 0) + amount
            line.append(total.get((u, v), 0) if v >= 0 else 0)
        rows.append(tuple(line))
    return tuple(rows)
