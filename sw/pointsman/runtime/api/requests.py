"""Requests of a node's processor: let time pass, wait until a register is empty, move words.

A processor is a coroutine or a generator. It awaits (or yields) a request; whoever runs it, a simulated machine
or a host with the hardware, resumes it when the request is complete. The answer is always ``None``: words that
were read stand in the arrays that the request named. Python code between two requests costs no cycles.

A request keeps no progress (only ``Attend`` does), so an object may be awaited repeatedly and by several nodes, which saves
time; it must not be changed once it has been awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from enum import IntEnum
from operator import index
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError

from .folds import Fold

MAX_CYCLES = 1 << 60
"""No count of cycles or words in a request is larger."""


class Category(IntEnum):
    """Categories of processor cycles, by what they are spent on (Metcalf 1997, Table 8.1)."""

    CPU = 0
    """Computation."""
    WRITE = 1
    """Writing to interface registers, or waiting until a register has room."""
    READ = 2
    """Reading from interface registers, or waiting for a word."""
    PSYNC = 3
    """Synchronising phases with other nodes."""
    ROUTER = 4
    """Loading complete schedules."""
    REPROG = 5
    """Reprogramming VFSMs for run-time values."""
    ONLINE = 6
    """Passing on online messages: interrupts, headers, words that other nodes sent."""


class Request:
    """Base of all requests. ``await request`` in a coroutine is ``yield request`` in a generator."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, None]:
        # `await` needs only an iterator; over a tuple it is quicker than a generator.
        return iter((self,))  # type: ignore[return-value]


class Wait(Request):
    """Resume ``cycles`` later; 0 is at once.

    Parameters
    ----------
    cycles : int
        At least 0.
    category : Category
        What the cycles count as.
    """

    __slots__ = ("category", "cycles")

    def __init__(self, cycles: int, category: Category) -> None:
        self.cycles = _count("a wait", "cycles", cycles)
        self.category = _category(category)

    def __repr__(self) -> str:
        return f"Wait({self.cycles}, {self.category.name})"


class WaitUntil(Request):
    """Resume in cycle ``time``, or at once if that is past.

    Parameters
    ----------
    time : int
        Cycle, counted since reset was released.
    category : Category
        What the cycles count as.
    """

    __slots__ = ("category", "time")

    def __init__(self, time: int, category: Category) -> None:
        self.time = _count("the time to wait for", "cycles", time)
        self.category = _category(category)

    def __repr__(self) -> str:
        return f"WaitUntil({self.time}, {self.category.name})"


class WaitEmpty(Request):
    """Resume in the first cycle in which an interface register is not full.

    Parameters
    ----------
    register : int
        Number of the interface register.
    category : Category
        What the cycles count as.
    """

    __slots__ = ("category", "register")

    def __init__(self, register: int, category: Category) -> None:
        self.register = _register(register)
        self.category = _category(category)

    def __repr__(self) -> str:
        return f"WaitEmpty({self.register}, {self.category.name})"


class Lane:
    """Words that move in one direction, in order, through interface registers in turn. Part of a `Transfer`.

    Parameters
    ----------
    write : bool
        From the processor to the router; otherwise from the router to the processor.
    registers : int or sequence of int
        Word k goes through register ``registers[k % len(registers)]``.
    words : int
        How many words move.
    data : array of uint32 or uint64, or None
        One-dimensional and contiguous, at least ``words`` long. Words to send (the hardware takes their low
        bits), or room for words read. None: zeros are sent, words read are dropped. Hardware words of more than 32 bits
        need uint64. The array is read and written while the transfer goes on.
    after : int or None
        Number of another lane of the transfer: word k may move when that lane has moved more than k words. A write lane
        with the same array as its read lane ``after`` passes on words as they come.
    after_all : bool
        With ``after``: no word may move before that lane is complete.
    pair : int or None
        Number of a lane of the same transfer.
    window : int or None
        With ``pair``: at most this many words ahead of that lane.
    """

    __slots__ = ("after", "after_all", "data", "folds", "item", "pair", "registers", "window", "words", "write")

    def __init__(
        self,
        write: bool,
        registers: int | Sequence[int],
        words: int,
        data: np.ndarray | None = None,
        *,
        after: int | None = None,
        after_all: bool = False,
        pair: int | None = None,
        window: int | None = None,
    ) -> None:
        self.write = bool(write)
        self.words = _count("a lane", "words", words)
        if registers.__class__ is tuple or isinstance(registers, Sequence):
            self.registers = tuple(map(_register, registers))
            if not self.registers:
                raise PointsmanError("a lane must have at least one register")
        else:
            self.registers = (_register(registers),)
        if data is not None:
            _check_data(self.write, self.words, data)
        self.data = data
        if after_all and after is None:
            raise PointsmanError("a lane with after_all must name the lane that it comes after")
        if (window is None) != (pair is None):
            raise PointsmanError("a lane must have both window and pair or neither")
        if window is not None and _count("a window", "words", window) < 1:
            raise PointsmanError("a window must be at least 1 word")
        self.after = after
        self.after_all = bool(after_all)
        self.pair = pair
        self.window = window
        self.item = 1
        self.folds: tuple[Fold, ...] = ()

    def in_items(self, item: int, folds: Sequence[Fold] = ()) -> Lane:
        """This lane, once it has been told of its items; before it is awaited.

        Parameters
        ----------
        item : int
            Words of an item. With ``after``: word k may move when that lane has moved all words of the item of word k.
        folds : sequence of Fold
            Carried out for the words of each item, in order, when the lane has moved the last of them.
        """
        self.item = item
        self.folds = tuple(folds)
        _check_items(self)
        return self

    def of(self, data: np.ndarray | None, folds: tuple[Fold, ...]) -> Lane:
        """This lane with other data and folds. They are not checked, and must be of the types and lengths of its own."""
        other = Lane.__new__(Lane)
        other.write, other.registers, other.words, other.item = self.write, self.registers, self.words, self.item
        other.after, other.after_all, other.pair, other.window = self.after, self.after_all, self.pair, self.window
        other.data, other.folds = data, folds
        return other

    def __repr__(self) -> str:
        text = f"Lane({'write' if self.write else 'read'} {self.words} words, registers {self.registers}"
        if self.after is not None:
            text += f", after {'all of ' if self.after_all else ''}lane {self.after}"
        if self.pair is not None:
            text += f", at most {self.window} ahead of lane {self.pair}"
        return text + ")"


class Transfer(Request):
    """Move words between processor and router, at most one a cycle, flow-controlled.

    In each cycle the first lane, in order, that is incomplete, allowed to move a word, and whose register is ready (not
    full for a write, full for a read) makes its access. ``after`` and ``pair`` compare counts at the start of the cycle.
    The transfer is complete when all lanes are; a transfer without words takes no cycle.

    Parameters
    ----------
    lanes : Lane or sequence of Lane
        Most important first.
    category : Category or None
        What the cycles count as. None: a cycle with an access counts as WRITE or READ, a cycle without one by the direction
        of the first lane that is not complete and that the others let move.
    """

    __slots__ = ("category", "lanes")

    def __init__(self, lanes: Lane | Sequence[Lane], category: Category | None = None) -> None:
        self.lanes = (lanes,) if isinstance(lanes, Lane) else tuple(lanes)
        self.category = None if category is None else _category(category)
        for number, lane in enumerate(self.lanes):
            if not isinstance(lane, Lane):
                raise PointsmanError(f"a transfer must be made of lanes, not {type(lane).__name__}")
            if lane.after is not None or lane.pair is not None:
                _check_order(self.lanes, number)

    def of(self, moved: Iterable[tuple[np.ndarray | None, tuple[Fold, ...]]]) -> Transfer:
        """This transfer with other data and folds, by lane. They are not checked (`Lane.of`)."""
        other = Transfer.__new__(Transfer)
        other.lanes = tuple([lane.of(data, folds) for lane, (data, folds) in zip(self.lanes, moved, strict=True)])
        other.category = self.category
        return other

    def __repr__(self) -> str:
        category = "" if self.category is None else f", {self.category.name}"
        return f"Transfer([{', '.join(map(repr, self.lanes))}]{category})"


class Attend(Request):
    """Move words, or wait, until that is done or an interface register calls for the processor. Keeps its progress.

    Complete in the first cycle (perhaps the current) in which all lanes are complete, or ``until`` has come, or a register of
    ``full`` is full, or a register of ``empty`` is not full. Lanes ``beside`` the others need not be complete; the request
    is complete as soon as any of them is. Awaited again, it goes on where it was. Interrupts are made of this: a program
    that serves them carries out its own requests in pieces.

    Parameters
    ----------
    transfer : Transfer or None
        Words to move. Its category counts.
    until : int or None
        Cycle, counted since reset was released.
    full, empty : sequence of int
        Interface registers that call when they are full, or not full.
    category : Category
        What the cycles count as, when there are no words to move.
    beside : sequence of int
        Numbers of the lanes that do not count for the end of the request, but end it. All lanes: any of them ends it.

    Attributes
    ----------
    state : array of int64
        Words that each lane has moved, then 1 for each register of ``full`` and ``empty`` that called. Updated by whoever
        runs the request.
    """

    __slots__ = ("beside", "category", "empty", "full", "lanes", "state", "until")

    def __init__(
        self,
        transfer: Transfer | None = None,
        *,
        until: int | None = None,
        full: Sequence[int] = (),
        empty: Sequence[int] = (),
        category: Category = Category.CPU,
        beside: Sequence[int] = (),
    ) -> None:
        self.lanes = () if transfer is None else transfer.lanes
        self.beside = tuple(beside)
        count = len(self.lanes)
        for number in self.beside:
            if not 0 <= number < count or not _is_integer(number):
                raise PointsmanError(f"lanes beside others must be numbers of the {count} lanes, not {self.beside}")
        self.category = _category(category) if transfer is None else transfer.category
        self.until = None if until is None else _count("the time to wait for", "cycles", until)
        self.full = tuple(map(_register, full)) if full else ()
        self.empty = tuple(map(_register, empty)) if empty else ()
        if not self.lanes and until is None and not self.full and not self.empty:
            raise PointsmanError("a request to attend must have words to move, a time, or a register to wait for")
        self.state = np.zeros(count + len(self.full) + len(self.empty), np.int64)

    @property
    def moved(self) -> np.ndarray:
        """Words that each lane has moved."""
        return self.state[: len(self.lanes)]

    @property
    def done(self) -> bool:
        """Are all lanes complete that count, or is any of the others? False without lanes."""
        lanes, beside = self.lanes, self.beside
        needed, whole = False, True
        for number, moved in enumerate(self.state[: len(lanes)].tolist()):
            if number in beside:
                if moved == lanes[number].words:
                    return True
            else:
                needed = True
                whole = whole and moved == lanes[number].words
        return needed and whole

    @property
    def calls(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Registers of ``full`` and of ``empty`` that called."""
        flags = self.state[len(self.lanes) :].tolist()
        full = tuple([r for r, flag in zip(self.full, flags, strict=False) if flag])
        return full, tuple([r for r, flag in zip(self.empty, flags[len(self.full) :], strict=True) if flag])

    def look(self, is_full: Callable[[int], bool], has_word: Callable[[int], bool] | None = None) -> bool:
        """Note which registers call; does any? ``has_word`` None: a register has a word when it is full."""
        first = len(self.lanes)
        flags = [(has_word or is_full)(r) for r in self.full] + [not is_full(r) for r in self.empty]
        self.state[first:] = flags
        return any(flags)

    def __repr__(self) -> str:
        parts = [repr(Transfer(self.lanes, self.category))] if self.lanes else []
        parts += [] if self.until is None else [f"until {self.until}"]
        parts += [f"full {self.full}"] if self.full else []
        parts += [f"empty {self.empty}"] if self.empty else []
        parts += [f"beside {self.beside}"] if self.beside else []
        return f"Attend({', '.join(parts)})"


def _check_order(lanes: tuple[Lane, ...], number: int) -> None:
    """Refuse conditions of lanes on other lanes that can never be fulfilled."""
    lane = lanes[number]
    for name, other in (("after", lane.after), ("pair", lane.pair)):
        if other is None:
            continue
        if not _is_integer(other) or not 0 <= other < len(lanes) or other == number:
            raise PointsmanError(
                f"{name} of lane {number} must be the number of another of the {len(lanes)} lanes, not {other}"
            )
    if lane.after is not None:
        before: int | None = lane.after
        while before is not None and before != number:
            before = lanes[before].after if before < number else None
        if before == number:
            raise PointsmanError(f"lane {number} must not come after itself")
        if not lane.after_all and lanes[lane.after].words < lane.words:
            raise PointsmanError(
                f"lane {number} has {lane.words} words and cannot come after lane {lane.after} "
                f"with only {lanes[lane.after].words}"
            )
    if lane.pair is not None and lane.window is not None and lanes[lane.pair].words + lane.window < lane.words:
        raise PointsmanError(
            f"lane {number} has {lane.words} words and cannot stay within {lane.window} of lane {lane.pair} "
            f"with only {lanes[lane.pair].words}"
        )


def _check_items(lane: Lane) -> None:
    if _count("an item", "words", lane.item) < 1 or lane.words % lane.item:
        raise PointsmanError(f"a lane of {lane.words} words must have whole items, not items of {lane.item} words")
    for fold in lane.folds:
        for data in (fold.left, fold.right, fold.result):
            if data.dtype != np.uint32:
                raise PointsmanError(f"data of a fold must be an array of uint32, not of {data.dtype}")
            _check_data(False, lane.words, data)


_WORDS = (np.dtype(np.uint32), np.dtype(np.uint64))


def _check_data(write: bool, words: int, data: object) -> None:
    if not isinstance(data, np.ndarray) or data.dtype not in _WORDS:
        what = f"an array of {data.dtype}" if isinstance(data, np.ndarray) else type(data).__name__
        raise PointsmanError(f"data of a lane must be an array of uint32 or uint64, not {what}")
    flags = data.flags
    if data.ndim != 1 or not flags.c_contiguous or not flags.aligned:
        raise PointsmanError("data of a lane must be a one-dimensional contiguous aligned array")
    if data.size < words:
        raise PointsmanError(f"data of a lane must hold its {words} words, not {data.size}")
    if not write and not flags.writeable:
        raise PointsmanError("data of a read lane must be writeable")


def _is_integer(value: object) -> bool:
    return value.__class__ is int or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))


def _count(what: str, unit: str, value: int) -> int:
    if not _is_integer(value):
        raise PointsmanError(f"{what} must have a whole number of {unit}, not {value!r}")
    if not 0 <= value <= MAX_CYCLES:
        raise PointsmanError(f"{what} must have 0 to {MAX_CYCLES} {unit}, not {value}")
    return value if value.__class__ is int else index(value)


def _register(value: int) -> int:
    if not _is_integer(value) or value < 0:
        raise PointsmanError(f"an interface register must be a number from 0 on, not {value!r}")
    return value if value.__class__ is int else index(value)


def _category(value: Category) -> Category:
    if value.__class__ is Category:
        return value
    if _is_integer(value) and 0 <= value < len(Category):
        return Category(value)
    raise PointsmanError(f"a category must be one of {', '.join(c.name for c in Category)}, not {value!r}")
