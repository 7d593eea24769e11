"""Small changes to a program that make it quicker, each checked by planning the changed program.

Takes a program, its predicted cycles, and a function that predicts those of another one (on any target). Gives the changes for
which that is clearly less (`Hint`). A change is to the text; the application may have to follow: operators that are one after the
other are called in this order, and a shift has one function where a stream has two.

Non-goals: changes of the network and of what is computed; finding the best program.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.operators import IMPLEMENTATIONS
from pointsman.program.program import Group, Instance, Operator, Program

QUICKER = 1.03
"""Factor by which a change has to be quicker to be told."""
MOST = 12
"""Most changes that are planned."""
SECONDS = 60.0
"""Processor time after which no further change is planned."""
MOST_OPERATORS = 3
"""Operators, those that wait longest, of which other implementations are tried."""
MOST_STREAMS = 15
"""Messages of a spread or gather up to which streams in its place are tried."""

Part = Group | Operator


@dataclass(frozen=True)
class Change:
    """A changed program; ``text``: what was changed, in words. ``options``: those of compiling that are changed too."""

    text: str
    program: Program
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Hint:
    """A change with the ``cycles`` predicted for it, and ``ratio``: how many times as quick that is."""

    text: str
    cycles: float
    ratio: float


def hints(
    changes: Sequence[Change],
    cycles: float,
    predict: Callable[[Change], float | None],
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[list[Hint], int, int]:
    """The changes that are predicted to be quicker than ``cycles``, the best first; how many were planned; how many cannot be.

    Parameters
    ----------
    predict : callable
        Predicted cycles of a changed program; None if they are not known. A PointsmanError says that it cannot be done.
    tell : callable
        Gets a line before each change is planned.
    """
    found: list[Hint] = []
    planned = refused = 0
    began = process_time()
    for number, change in enumerate(changes[:MOST], 1):
        if process_time() - began > SECONDS:
            break
        tell(f"looking for hints, {number} of {min(MOST, len(changes))}: {change.text}")
        planned += 1
        try:
            taken = predict(change)
        except PointsmanError:
            refused += 1
            continue
        if taken and cycles / taken >= QUICKER:
            found.append(Hint(change.text, taken, cycles / taken))
    return sorted(found, key=lambda one: one.cycles), planned, refused


def changes(
    program: Program, waiting: Sequence[str], *, period: int | None = None, asked: bool = False
) -> list[Change]:
    """Changes worth a plan, the most promising first.

    Parameters
    ----------
    waiting : sequence of str
        Labels of operators that wait, the longest first; of others only what was asked for by options is changed.
    period : int or None
        Schedule length of the plan, on scheduled routers.
    asked : bool
        The user has asked for this length.
    """
    found: list[Change] = []
    parts = dict(_with_parents(program.root))
    operators = {one.label: one for one in program.operators()}
    for group in (part for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "parallel"):
        inside = [one.label for part, _ in group.walk() if isinstance(one := part, Operator)]
        if len(inside) < 2 or not set(inside) & set(waiting):
            continue
        named = _listed(inside)
        together = _made_for_calls_together(group) if period is not None else None
        if together is not None:
            text = f"{named} called together (node.together), with :impl '{together[0].impl}"
            found.append(Change(text, _changed(program, group, "parallel", {one.label: one for one in together})))
        shifts = {label: shift_of(operators[label], program.topology) for label in inside}
        known = {label: shift for label, shift in shifts.items() if shift is not None}
        if known:
            text = f"{_listed(list(known))} as {'shifts' if len(known) > 1 else 'a shift'}, one after the other"
            found.append(Change(text, _changed(program, group, "sequential", known)))
        found.append(Change(f"{named} one after the other", _changed(program, group, "sequential", {})))
        phases = tuple(Group("phase", (child,)) for child in group.children)
        found.append(
            Change(
                f"{named} one after the other, each in a phase of its own",
                _swapped(program, group, Group("sequential", phases)),
            )
        )
    for label, operator in operators.items():
        if operator.impl is not None:
            text = f"'{label}' without :impl '{operator.impl}"
            found.append(Change(text, _swapped(program, operator, replace(operator, impl=None))))
        if operator.b != 1.0:
            text = f"'{label}' without :b {operator.b}"
            found.append(Change(text, _swapped(program, operator, replace(operator, b=1.0))))
    if period is not None:
        if asked:
            found.append(
                Change("a schedule length that the compiler chooses", replace(program, schedlen=None), {"period": None})
            )
        found.append(Change(f"schedules of {2 * period} slots", program, {"period": 2 * period}))
    for label in waiting[:MOST_OPERATORS]:
        operator, parent = operators[label], parts.get(id(operators[label]))
        streams = streams_of(operator, operators)
        if streams:
            which = "to" if operator.kind == "spread" else "from"
            text = f"'{label}' as a stream {which} each node, one after the other"
            found.append(Change(text, _swapped(program, operator, Group("sequential", streams))))
        if operator.impl is None:
            # Several implementations have one name: which of them it is follows from what is known of the operator.
            for name in dict.fromkeys(way.name for way in IMPLEMENTATIONS if operator.kind in way.kinds):
                changed = replace(operator, impl=name)
                found.append(Change(f"'{label}' with :impl '{name}", _swapped(program, operator, changed)))
        if parent is not None and parent.kind not in ("phase", "parallel") and len(operators) > 1:
            alone = Group("phase", (operator,))
            found.append(Change(f"'{label}' in a phase of its own", _swapped(program, operator, alone)))
    return found


def _made_for_calls_together(group: Group) -> list[Operator] | None:
    """The operators of a group in the way that is made for several at the same time; None if there is none for all of them."""
    found = []
    for one in group.children:
        ways = [
            way.name for way in IMPLEMENTATIONS if isinstance(one, Operator) and way.at_once and one.kind in way.kinds
        ]
        if not isinstance(one, Operator) or not ways or one.impl not in (None, *ways):
            return None
        found.append(replace(one, impl=ways[0]))
    return found


def _listed(labels: Sequence[str]) -> str:
    named = [f"'{label}'" for label in labels[:4]]
    return ", ".join(named) + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")


def _with_parents(root: Group) -> Iterator[tuple[int, Group]]:
    """(identity of a part, the group around it)."""
    for part, _ in root.walk():
        if isinstance(part, Group):
            for child in part.children:
                yield id(child), part


def _changed(program: Program, group: Group, kind: Any, operators: Mapping[str, Operator]) -> Program:
    """``group`` as another kind of group, with other operators of the same labels in it."""
    children = tuple(operators.get(one.label, one) if isinstance(one, Operator) else one for one in group.children)
    return _swapped(program, group, replace(group, kind=kind, children=children))


def _swapped(program: Program, old: Part, new: Part) -> Program:
    """The program with ``new`` in the place of ``old``. Groups may be deep, so they are made anew from the inside."""
    made: dict[int, Part] = {id(old): new}
    for part, _ in reversed(list(program.root.walk())):
        if isinstance(part, Group) and part is not old and any(id(child) in made for child in part.children):
            made[id(part)] = replace(part, children=tuple(made.get(id(child), child) for child in part.children))
    root = made.get(id(program.root), program.root)
    assert isinstance(root, Group)
    return replace(program, root=root)


def streams_of(operator: Operator, taken: Container[str] = ()) -> tuple[Operator, ...]:
    """Streams, in their order, that move the messages of a ``spread`` or a ``gather``; none where there are too many of them, for
    another operator, or where a label of theirs is among those ``taken``. A spread's streams have all slots in turn, and
    not each its share; but nodes have to go from one to the next.

    >>> from pointsman.cop import compile_text
    >>> from pointsman.network import mesh
    >>> (one,) = compile_text("(gather 'g 1 :m 4)", topology=mesh(3, 1)).operators()
    >>> [(made.label, made.instances[0].operands) for made in streams_of(one)]
    [('g0', (('source', 0), ('destination', 1))), ('g2', (('source', 2), ('destination', 1)))]
    """
    if operator.kind not in ("spread", "gather") or operator.valid is not None:
        return ()
    single = "source" if operator.kind == "spread" else "destination"
    positions = range(max(len(instance.nodes) for instance in operator.instances))
    if len(positions) > MOST_STREAMS + 1:
        return ()
    found = []
    for k in positions:
        instances = []
        for one in operator.instances:
            end = one.operand(single)
            assert isinstance(end, int)
            if k != end and k < len(one.nodes):
                source, destination = (end, k) if operator.kind == "spread" else (k, end)
                instances.append(replace(one, operands=(("source", source), ("destination", destination))))
        if instances:
            made = replace(operator, kind="stream", label=f"{operator.label}{k}", instances=tuple(instances), impl=None)
            found.append(made)
    return () if any(one.label in taken for one in found) else tuple(found)


def shift_of(operator: Operator, topology: Topology) -> Operator | None:
    """The shift along the lines of a mesh or torus that moves the same words as a ``stream`` between neighbours, without the
    stream's ``:impl``; None if there is none.

    >>> from pointsman.cop import compile_text
    >>> from pointsman.network import mesh
    >>> net = mesh(3, 1)
    >>> (one,) = compile_text("(subset '((0 1) (1 2)) (stream 's 0 1 :m 4))", topology=net).operators()
    >>> made = shift_of(one, net)
    >>> made.kind, made.instances[0].nodes, made.instances[0].operands
    ('eoshift', (0, 1, 2), (('distance', 1),))
    """
    if operator.kind != "stream" or operator.valid is not None or not topology.regular:
        return None
    pairs = set()
    for instance in operator.instances:
        ends = [instance.operand(name) for name in ("source", "destination")]
        if not all(isinstance(end, int) for end in ends):
            return None
        source, destination = (instance.nodes[end] for end in ends if isinstance(end, int))
        pairs.add((source, destination))
    if len(pairs) != len(operator.instances) or len(pairs) < 2:
        return None
    for axis, length in enumerate(topology.size):
        lines = _lines(topology, axis)
        for step in (1, -1):
            for kind in ("eoshift", "cshift"):
                moved = set()
                for line in lines:
                    for place, node in enumerate(line):
                        to = place + step if kind == "eoshift" else (place + step) % length
                        if 0 <= to < length:
                            moved.add((node, line[to]))
                if moved == pairs and length > 1:
                    position = operator.instances[0].position
                    instances = tuple(Instance(line, (("distance", step),), position) for line in lines)
                    return replace(operator, kind=kind, instances=instances, impl=None)
    return None


def _lines(topology: Topology, axis: int) -> list[tuple[int, ...]]:
    """The nodes of each line along an axis, in order."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for node in range(topology.nodes):
        place = topology.coordinates(node)
        found.setdefault((*place[:axis], *place[axis + 1 :]), []).append((place[axis], node))
    return [tuple(node for _, node in sorted(line)) for line in found.values()]


def hints_json(found: Sequence[Hint], planned: int, refused: int) -> dict[str, Any]:
    """Hints as plain values: "hints", the best first; of "planned" changes "refused" cannot be done."""
    return {
        "hints": [{"text": one.text, "cycles": one.cycles, "ratio": one.ratio} for one in found],
        "planned": planned,
        "refused": refused,
    }


def hints_text(plain: Mapping[str, Any]) -> str:
    """The values of `hints_json` as text."""
    lines = [
        f"hint: {one['text']}: {one['cycles']:,.0f} cycles predicted, {one['ratio']:.1f} times as quick"
        if one["ratio"] >= 1.95
        else f"hint: {one['text']}: {one['cycles']:,.0f} cycles predicted, {one['ratio'] - 1:.0%} quicker"
        for one in plain["hints"]
    ]
    tried = f"{plain['planned']} change{'' if plain['planned'] == 1 else 's'} to the program"
    said = (
        f"no hint: {tried} were planned, and none is predicted to be quicker"
        if not lines
        else f"({tried} were planned)"
    )
    return "\n".join([*lines, said])
