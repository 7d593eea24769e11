"""The functions of a COP program at a node (Metcalf 1997, §2.7, A.8), the same on every target."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from operator import index
from typing import Any, Protocol

import numpy as np

from pointsman.cop.text.source import suggestion
from pointsman.errors import PointsmanError
from pointsman.foreign import shown

from .claims import Claims
from .combine import combiner, function_named
from .left_out import LatestLoads
from .made_calls import MadeCalls, NotAwaited
from .messages import as_items
from .substrate import CHOSEN, HERE, UNKNOWN, Combine, Given, Permission, Port, Signature, Substrate

MOST_NAMES = 24
"""Functions that an error names at most."""
IN_TURN = "load an operator after the last use of those that come before it in the program"


class Caller(Protocol):
    """The node that calls the functions. ``activity``: what it is doing, in words, for reports. ``loaded``: by label, the
    values of the last load; ``loads``: labels of the loads so far; ``moved``: messages written and read, see
    `unread`; ``claims``: see there."""

    activity: str
    loaded: dict[str, Given]
    loads: LatestLoads
    moved: Counter[tuple[str, str]]
    claims: Claims

    @property
    def number(self) -> int: ...


class NoFunctionError(PointsmanError, AttributeError):
    """A program has no such function; so ``hasattr(node.cop, "a_load")`` tells whether it has one."""


class Cop:
    """The functions of a COP program at a node: ``label_load``, ``label_write``, ``label_read``, ``label_func``.

    All are coroutines. ``label_load(*values)`` takes the run-time values in the order of the operands; every node of
    the operator's subset must call it before its other functions, and again for other values. ``label_write(message)``
    and ``label_read()`` belong to directional operators, ``label_func(message)`` to functional ones. A message of
    an array type is a NumPy array of exactly ``:m`` words; of a plain type a number. What would lose its value in the operator's
    type is refused (`messages`). A function gives None to a node that
    receives nothing: in a reduce every node but the destination, and nodes outside ``:valid``.
    """

    def __init__(self, node: Caller, substrate: Substrate, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._node = node
        self._substrate = substrate
        self.made = MadeCalls(node.number)
        self._functions: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {}
        self._named = [f"{label}_load" for label in substrate.loops]
        for signature, port in substrate.ports():
            function = OperatorFunctions(node, signature, port, functions, self.made)
            for what in ("load", "write", "read", "func"):
                name = f"{signature.label}_{what}"
                self._functions[name] = self._made(name, getattr(function, what))
            self._named += [f"{signature.label}_{name}" for name in signature.functions]
        for label in substrate.loops:
            self._functions[f"{label}_load"] = self._made(f"{label}_load", self._loop_load)

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("__") and name.endswith("__"):  # one of Python's own; a label may begin with _, too
            raise AttributeError(name)
        try:
            return self._functions[name]
        except KeyError:
            names = sorted(self._named)
            known = f"there are: {', '.join(names[:MOST_NAMES]) or 'none'}{', …' if len(names) > MOST_NAMES else ''}"
            close = suggestion(name, names)
            raise NoFunctionError(
                f"the COP program {self._substrate.name} has no function {name}",
                hint=f"{close} {known}" if close else known,
            ) from None

    def _made(self, name: str, function: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
        """``function`` as an application calls it, under this name."""

        @wraps(function)
        def made(*values: Any, **named: Any) -> NotAwaited:
            return self.made.note(NotAwaited(name, sys._getframe(1), function, *values, **named))

        return made

    async def _loop_load(self) -> None:
        """Loop load functions have nothing to hoist yet; all loading is done by the operators' own."""

    async def init(self) -> None:
        """Before anything else (cop_init)."""
        self._node.activity = "loading"
        await self._substrate.init()

    async def fini(self) -> None:
        """At the end of the program: go through phases in which other nodes still need this node (cop_fini).

        Raises
        ------
        PointsmanError
            If the program has made a call that it has not awaited.
        """
        self.made.refuse()
        self._node.activity = "finishing"
        await self._substrate.fini()
        self._node.activity = "done"


class OperatorFunctions:
    """load, write, read and func of an operator at a node; ``port`` is None for nodes outside the operator's subset."""

    def __init__(
        self,
        node: Caller,
        signature: Signature,
        port: Port | None,
        functions: Mapping[str, Callable[..., Any]],
        made: MadeCalls,
    ) -> None:
        self.node = node
        self.made = made
        self.signature = signature
        self.port = port
        self.part: Permission | None = None
        self.index = {value: i for i, value in enumerate(signature.values)}
        self.array = signature.type.endswith("*")
        self.dtype = np.dtype(signature.type.rstrip("*"))
        self.local: deque[np.ndarray] = deque()
        self.combine: Combine | None = None
        if signature.combines and "function" not in signature.runtime:
            self.combine = combiner(signature, function_named(signature, functions))

    async def load(self, *values: Any) -> None:
        """Get ready for the operator, with these run-time values."""
        port = self._port("load")
        self.node.activity = f"{self.signature.label}_load"
        given = self._given(values)
        self._refuse_other_values(given)
        self.node.loaded[self.signature.label] = given
        self.node.loads.append(self.signature.label)
        self.part = await port.load(given)
        self.node.activity = f"after {self.signature.label}_load"

    async def write(self, message: Any) -> None:
        """Send a message."""
        part = self._ready("write", "write")
        if part.void:
            return
        words = self._words("write", message)
        self._refuse_second_writer()
        self._refuse_without_destination()
        if part.local:
            self.local.append(words.copy())
            self._count("write")
            return
        self._moving("write")
        await self._port("write").write(words)
        self._moved("write")
        self._count("write")

    async def read(self) -> Any:
        """Receive a message."""
        part = self._ready("read", "read")
        if part.local:
            if not self.local:
                raise self._error("read", "reads what it has not written to itself")
            self._count("read")
            return self._message(self.local.popleft())
        words = np.zeros(self.signature.m, np.uint32)
        self._moving("read")
        valid = await self._port("read").read(words)
        self._moved("read")
        self._count("read")
        return self._message(words) if valid and not part.void else None

    async def func(self, message: Any = None) -> Any:
        """Send a message and receive a message."""
        part = self._ready("func", "func")
        port = self._port("func")
        if self.signature.kind == "barrier":
            self._moving("func")
            if not part.local:
                await port.func(None, None, None)
            self._moved("func")
            return None
        words = None if part.void else self._words("func", message)
        wrong = self.node.claims.reduces(self.signature, self.node.number, self.node.loaded[self.signature.label])
        if wrong is not None:
            raise wrong
        if part.local:
            return None if words is None else self._message(words.copy())
        received = np.zeros(self.signature.m, np.uint32)
        self._moving("func")
        valid = await port.func(words, received, self.combine)
        self._moved("func")
        return self._message(received) if valid and not part.void else None

    # -- inside ----------------------------------------------------------------------------------------------

    def _refuse_second_writer(self) -> None:
        """Refuse to write a message of a broadcast that another node has written, as it says that it is the source, too."""
        label, moved = self.signature.label, self.node.moved
        message = moved[label, "write"] + moved[label, "read"]
        other = self.node.claims.writes(self.signature, self.node.number, message)
        if other is not None:
            raise self._error(
                "write",
                f"writes message {message + 1}, and so has node {other}: both said that they are the source",
                f"at each {label}_load there is one source: one node gives True, all others None",
            )

    def _refuse_without_destination(self) -> None:
        """Refuse to write to a node that only the writer could know, and does not."""
        signature = self.signature
        if signature.kind == "stream" and "destination" in signature.partial:
            # It is the last operand.
            if self.node.loaded[signature.label].numbers[-1] == UNKNOWN:
                raise self._error(
                    "write",
                    "writes and must give the destination",
                    f"to {signature.label}_load the writer gives the number of a node in the subset, all others None",
                )

    def _refuse_other_values(self, given: Given) -> None:
        """Refuse values that are not those of a node that loaded them before."""
        label, here = self.signature.label, self.node.number
        if given == self.node.loaded.get(label):
            return
        first = self.node.claims.loads(self.signature, here, given)
        if first is not None:
            raise PointsmanError(
                f"{self.signature.where}node {here} calls {label}_load with the values {given}, node {first[0]} with "
                f"{first[1]}",
                hint="run-time values must be the same at all nodes of the operator, in the same order",
            )

    def _moving(self, what: str) -> None:
        self.node.activity = f"{self.signature.label}_{what}"

    def _moved(self, what: str) -> None:
        self.node.activity = f"after {self.signature.label}_{what}"

    def _count(self, what: str) -> None:
        self.node.moved[self.signature.label, what] += 1

    def _port(self, what: str) -> Port:
        if self.port is None:
            raise self._error(what, "is not in its subset")
        return self.port

    def _ready(self, what: str, kind: str) -> Permission:
        port, part = self._port(what), self.part
        if part is None:
            self.made.refuse(f"{self.signature.label}_load")
            raise self._error(what, f"has not called {self.signature.label}_load")
        stale = port.stale()
        if stale is not None:
            raise self._error(what, stale, hint=IN_TURN)
        if part.kind != kind and not (part.kind == "both" and kind in ("write", "read")):
            may = {
                "none": "may only load it",
                "both": "may write and read",
            }.get(part.kind, f"may only {part.kind}")
            raise self._error(what, may, self._last_given())
        return part

    def _last_given(self) -> str | None:
        """What the node gave to the last load, by which it may call what it may; None if it gave no numbers."""
        signature, given = self.signature, self.node.loaded.get(self.signature.label)
        names = [name for name, sort in zip(signature.runtime, signature.sorts, strict=True) if sort in CHOSEN]
        if given is None or not names or len(names) != len(given.numbers):
            return None
        said = {HERE: "itself", UNKNOWN: "None"}
        values = (f"{name} {said.get(value, value)}" for name, value in zip(names, given.numbers, strict=True))
        return f"the last {signature.label}_load of node {self.node.number} gave {' and '.join(values)}; load again for another"

    def _given(self, values: tuple[Any, ...]) -> Given:
        """Check the arguments of load, each by the sort of its operand."""
        names = self.signature.runtime
        if len(values) != len(names):
            wanted = f"the {' and the '.join(names)}" if names else "no values"
            unknown = [name for name in names if name in self.signature.partial]
            raise self._error(
                "load",
                f"must give {wanted}, not {len(values)} {'value' if len(values) == 1 else 'values'}",
                f"a node that does not know the {unknown[0]} gives None" if unknown else None,
            )
        numbers: list[Any] = []
        permutation: tuple[int, ...] | None = None
        chosen = []
        for name, sort, value in zip(names, self.signature.sorts, values, strict=True):
            if name in self.signature.partial:
                entries = sort == "permutation" and isinstance(value, list | tuple | np.ndarray) and np.ndim(value) > 0
                numbers.append(self._own_entry(name, value) if entries else _partly_known(value, sort))
                chosen.append(name)
            elif sort in CHOSEN:
                numbers.append(value)
                chosen.append(name)
            elif sort == "function":
                if not callable(value):
                    hint = "give the function itself, such as numpy.add" if isinstance(value, str) else None
                    raise self._error("load", f"must give a function that combines messages, not {shown(value)}", hint)
                self.combine = combiner(self.signature, value)
            else:
                permutation = self._permutation(name, value)
        ranges = self.signature.ranges
        try:
            exact = tuple(index(value) for value in numbers)
            if ranges is None:
                return Given(exact, self.index[exact], permutation)
            if all(
                value in legal or (value in (HERE, UNKNOWN) and name in self.signature.partial)
                for name, value, legal in zip(chosen, exact, ranges if chosen else (), strict=True)
            ):
                return Given(exact, 0, permutation)
        except (KeyError, TypeError, ValueError, OverflowError):
            pass
        given = ", ".join(map(str, numbers))
        if ranges is None:
            legal = _listed(self.signature.values)
        else:
            legal = " and ".join(map(_shown, ranges))
        partial = any(name in self.signature.partial for name in chosen)
        hint = "a node that does not know it gives None" if partial else None
        raise self._error("load", f"gives {' and '.join(chosen)} {given}; legal are {legal}", hint)

    def _permutation(self, name: str, value: Any) -> tuple[int, ...]:
        try:
            entries = tuple(index(entry) for entry in value)
        except (TypeError, ValueError, OverflowError):
            raise self._error("load", f"must give a list of nodes as {name}, not {shown(value)}") from None
        if sorted(entries) != list(range(len(entries))):
            raise self._error("load", f"gives as {name} a list in which not every node stands once")
        return entries

    def _own_entry(self, name: str, value: Any) -> int:
        """Where this node sends, of a permutation that it knows and others need not know."""
        entries, here = self._permutation(name, value), self.node.number
        nodes = next(nodes for nodes in self.signature.told_in if here in nodes)
        if len(entries) != len(nodes):
            raise self._error("load", f"gives as {name} a list of {len(entries)} nodes; its subset has {len(nodes)}")
        return entries[nodes.index(here)]

    def _error(self, what: str, rest: str, hint: str | None = None) -> PointsmanError:
        return PointsmanError(
            f"{self.signature.where}{self.signature.label}_{what}: node {self.node.number} {rest}", hint=hint
        )

    def _words(self, what: str, message: Any) -> np.ndarray:
        """The message as words, checked."""
        if type(message) is np.ndarray and message.dtype == self.dtype:
            items = np.ascontiguousarray(message)
        else:
            try:
                items = as_items(message, self.dtype)
            except PointsmanError as error:
                raise self._error(
                    what, f"sends what is no {self.signature.type}: {error.message}", error.hint
                ) from None
        words = self.signature.m
        if items.nbytes == 4 * words:
            return items.reshape(-1).view(np.uint32)
        if items.nbytes % 4:
            raise self._error(what, f"sends {items.nbytes} bytes; the message has {words} words of 4 bytes (:m)")
        raise self._error(what, f"sends {items.nbytes // 4} words; the message has {words} (:m)")

    def _message(self, words: np.ndarray) -> Any:
        items = words.view(self.dtype)
        return items if self.array else items[0].item()


def _partly_known(value: Any, sort: str) -> Any:
    """A node's knowledge of a partial run-time value: None or False: UNKNOWN; True, for a node: HERE; otherwise ``value``."""
    if value is None or (isinstance(value, bool | np.bool_) and not value):
        return UNKNOWN
    if isinstance(value, bool | np.bool_):
        return HERE if sort == "node" else value
    # HERE and UNKNOWN are negative numbers, which an application cannot give: as texts these are no legal values.
    return str(value) if isinstance(value, int | np.integer) and value < 0 else value


def _shown(legal: tuple[int, ...] | range) -> str:
    if isinstance(legal, range):
        return f"{legal[0]}..{legal[-1]}"
    return ", ".join(map(str, legal[:12])) + (", …" if len(legal) > 12 else "")


def _listed(values: Sequence[tuple[int, ...]]) -> str:
    """Legal values of one or several operands; many of a single one as a range where they are one."""
    several = sorted(values)
    first, last = several[0], several[-1]
    if len(several) > 12 and several == [(number,) for number in range(first[0], last[0] + 1)]:
        return _shown(range(first[0], last[0] + 1))
    return ", ".join("/".join(map(str, value)) for value in values[:12]) + (", …" if len(values) > 12 else "")
