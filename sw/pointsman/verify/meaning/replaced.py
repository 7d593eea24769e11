"""Operators whose work others do: together these mean the one.

Takes the operators of the program that images name as replaced, and those that do their work; notes findings. What each of these
means is proven by itself (`meaning`, `messages`); here their definitions are put together as the run time does it
(`pointsman.runtime.api.replaced`): every node hands the message that one part gave it to the next. Messages are terms, as there,
and each node must end with what the definition of the replaced operator says, for every run-time value.

Leaves to ``phases.broadcast_barriers`` a barrier that is a broadcast of many words: who waits for whom there is a matter of room,
not of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pointsman.artifacts.images.images import Images, ReplacedImage
from pointsman.program.catalogue import ITEM_FUNCTIONS
from pointsman.program.program import DataType, Instance, Operator, Runtime, Value
from pointsman.verify.report import Finding, Notebook

from .definitions import Call, Definition, Fold, Gives, Meeting, Nothing, Zeros
from .messages import settled, values_of
from .processor import folded
from .wires import ZERO, Term

SEQUENCES = ("seqread", "seqwrite")
FUNCTIONAL = ("reduce", "allreduce", "barrier")


def check_replaced(images: Images, notebook: Notebook) -> None:
    """Check all operators of ``images`` that others replace."""
    for one in images.replaced:
        parts = [_with_all_values(images, index) for index in one.parts]
        if any(part is None for part in parts):
            continue  # noted with the structure
        whole = _Whole(one, [part for part in parts if part is not None])
        notebook.counts["replaced operators"] += 1
        for values, node, message in whole.problems():
            right = "what the definition of the operator says"
            said = (values,) if values else ()
            label, source = one.program.label, one.source
            notebook.add(Finding("meaning", message, right, node=node, operator=label, source=source, values=said))


def _with_all_values(images: Images, index: int) -> Operator | None:
    """The operator of a program of which operator ``index`` is all, or for some run-time values, for which it has a schedule."""
    program, label = images.operators[index].program, images.operators[index].label
    others = [one.program for one in images.operators if one.label == label and one.program is not None]
    if program is None or len(others) < 2:
        return program

    def joined(instance: int, name: str, value: Value) -> Value:
        if not isinstance(value, Runtime):
            return value
        theirs = [dict(one.instances[instance].operands).get(name) for one in others]
        listed = [one.values for one in theirs if isinstance(one, Runtime) and one.values is not None]
        return replace(value, values=tuple(sorted(set().union(*listed))))

    instances = tuple(
        replace(instance, operands=tuple((name, joined(i, name, value)) for name, value in instance.operands))
        for i, instance in enumerate(program.instances)
    )
    return replace(program, instances=instances)


def _with_source(operator: Operator, source: Runtime) -> tuple[Instance, ...]:
    """The instances of a broadcast, with this source."""
    return tuple(replace(one, operands=(("source", source),)) for one in operator.instances)


def is_one_broadcast(whole: Operator, parts: Sequence[Operator | None]) -> bool:
    """Is it a barrier whose work a single broadcast does?"""
    return whole.kind == "barrier" and [part and part.kind for part in parts] == ["broadcast"]


@dataclass
class _Held:
    """What a node has after some parts."""

    message: Term | None
    known: int
    """A bit for each position that had called by then."""


@dataclass(frozen=True)
class _Whole:
    """A replaced operator and its parts."""

    image: ReplacedImage
    parts: Sequence[Operator]

    def problems(self) -> Iterator[tuple[str, int | None, str]]:
        """(run-time values, node, what is wrong) of each problem."""
        program = self.image.program
        unlike = self._unlike()
        if unlike is not None:
            yield "", None, unlike
            return
        if is_one_broadcast(program, self.parts) or program.kind == "broadcast":
            return
        for values in values_of(program):
            said = ", ".join(f"{n} {v}" for n, v in zip(program.runtime_names, values, strict=True) if v is not None)
            whole = settled(program, values)
            parts = [self._settled(part, values) for part in self.parts]
            for i in range(len(program.instances)):
                ends = self._sequence if program.kind in SEQUENCES else self._functional
                for position, message in ends(Definition(whole, i), [Definition(part, i) for part in parts]):
                    yield said, program.instances[i].nodes[position], message

    def _unlike(self) -> str | None:
        """What makes the parts no parts of the operator: other instances, types, functions, values."""
        program = self.image.program
        wanted = [one.nodes for one in program.instances]
        for part in self.parts:
            if [one.nodes for one in part.instances] != wanted:
                return f"'{part.label}', which does it, has other instances"
            if len(part.chosen) > len(program.chosen):
                return f"'{part.label}', which does it, has more run-time values than there are"
            if _is_agreement(program, part):
                continue
            if part.type != program.type or (part.m != program.m and program.kind != "barrier"):
                return f"'{part.label}', which does it, has messages of another type or length"
            for one, own in zip(program.instances, part.instances, strict=True):
                functions = [dict(each.operands).get("function") for each in (one, own)]
                if "function" in dict(own.operands) and program.kind != "barrier" and functions[0] != functions[1]:
                    return f"'{part.label}', which does it, combines messages by another function"
        if program.kind == "broadcast":
            return self._not_agreed()
        if program.kind not in (*FUNCTIONAL, *SEQUENCES):
            return f"it is a {program.kind}, which no others do"
        return None

    def _not_agreed(self) -> str | None:
        """Why the parts of a broadcast are not an agreement on its source and the same broadcast from the node agreed on."""
        program = self.image.program
        if len(self.parts) != 2 or not _is_agreement(program, self.parts[0]):
            return "its source is not agreed on before it"
        source = program.instances[0].operand("source")
        if not isinstance(source, Runtime) or source.dynamic:
            return "its nodes do not load together, and cannot agree on its source"
        theirs = self.parts[1]
        known = _with_source(program, replace(source, distributed=False, values=None))
        if theirs.kind != "broadcast" or theirs.valid != program.valid:
            return "no broadcast from the node agreed on does it"
        given = theirs.instances[0].operand("source")
        # A part that has a schedule for each value lists the values that the whole may have.
        if not isinstance(given, Runtime) or values_of(theirs) != values_of(program):
            return "its broadcast is from other nodes than it may be from"
        if _with_source(theirs, replace(given, values=None)) != known:
            return "no broadcast from the node agreed on does it"
        return None

    def _settled(self, part: Operator, values: Sequence[object]) -> Operator:
        """A part with the values that it is given: those of the whole, if it has run-time operands at all."""
        if not part.chosen:
            return part
        known = [value for value in values if value is not None]
        numbers = iter(known)
        return settled(part, [next(numbers, None) if name in part.chosen else None for name in part.runtime_names])

    def _functional(self, whole: Definition, parts: Sequence[Definition]) -> Iterator[tuple[int, str]]:
        """(position, what is wrong) where every node hands its message from part to part."""
        commutes = self._commutes
        held = [
            _Held(((whole.ranks[k], whole.ranks[k], 0, 0),) if k in whole.members else None, 1 << k)
            for k in range(whole.size)
        ]
        for part in parts:
            held = [_after(part, k, held, commutes) for k in range(whole.size)]
        for k in range(whole.size):
            (call,) = whole.calls(k)
            receives = k in whole.members and (not self._is_kept_at_destination or k == whole.number("destination"))
            message = held[k].message if receives else None
            if isinstance(call.gives, Meeting):
                if held[k].known != (1 << whole.size) - 1:
                    yield k, "it gets on before all nodes have called"
                continue
            wanted = _wanted(call.gives)
            if message != wanted:
                yield k, f"{' and '.join(part.operator.kind for part in parts)} do not give it the message"

    @property
    def _commutes(self) -> bool:
        return dict(self.image.program.instances[0].operands).get("function") in ITEM_FUNCTIONS

    @property
    def _is_kept_at_destination(self) -> bool:
        """Do nodes other than the destination discard what the parts give them? They do if it is given at run time."""
        program = self.image.program
        return program.kind == "reduce" and isinstance(program.instances[0].operand("destination"), Runtime)

    def _sequence(self, whole: Definition, parts: Sequence[Definition]) -> Iterator[tuple[int, str]]:
        """(position, what is wrong) where the messages of a sequence go on through the node at which both parts meet."""
        reads = whole.operator.kind == "seqread"
        name = "sources" if reads else "destinations"
        chain = [k for k in _nodes(whole, name) if k in whole.members]
        if not chain or len(parts) != (1 if len(chain) == 1 else 2):
            yield 0, f"{len(parts)} operators do the work of a sequence of {len(chain)}"
            return
        middle = chain[-1 if reads else 0]
        stream = parts[-1] if reads else parts[0]
        rest = [parts[0] if reads else parts[-1]] if len(chain) > 1 else []
        far = whole.number("destination" if reads else "source")
        ends = (middle, far) if reads else (far, middle)
        if stream.operator.kind != "stream" or (stream.number("source"), stream.number("destination")) != ends:
            yield middle, "no stream joins it to the end of the sequence"
            return
        passed = list(range(whole.size)) if stream.operator.valid is None else list(stream.operator.valid)
        if not {middle, far} <= set(passed):
            yield middle, "the stream between it and the end of the sequence takes no message of it"
        for part in rest:
            single = part.number("destination" if reads else "source") if part.operator.kind in SEQUENCES else None
            others = [k for k in _nodes(part, name) if k in part.members] if part.operator.kind in SEQUENCES else []
            left = chain[:-1] if reads else chain[1:]
            if part.operator.kind != whole.operator.kind or single != middle or others != left:
                yield middle, "the other nodes of the sequence are not joined to it in their order"


def _is_agreement(program: Operator, part: Operator) -> bool:
    """Is a part of a broadcast the greatest number that any of its nodes has?"""
    greatest = all(one.operands == (("function", "max"),) for one in part.instances)
    alike = part.type == DataType() and part.m == 1 and part.valid is None
    return program.kind == "broadcast" and part.kind == "allreduce" and greatest and alike


def _after(part: Definition, position: int, held: Sequence[_Held], commutes: bool) -> _Held:
    """What a position has after a part: what it got, or what it had."""
    own = held[position]
    kind = part.operator.kind
    if part.size == 1:
        return own
    calls: list[Call] = part.calls(position)
    if kind in FUNCTIONAL:
        gives = calls[0].gives
        if isinstance(gives, Meeting):
            return _Held(own.message, _all_known(held))
        if not isinstance(gives, Fold):
            return _Held(None, own.known)
        by_rank = {part.ranks[k]: held[k] for k in part.members}
        members = [by_rank[rank] for rank in range(gives.first, gives.last + 1)]
        term: Term | None = None
        for one in members:
            given = ZERO if one.message is None else one.message
            term = given if term is None else folded(term, given, commutes=commutes)
        known = own.known
        for one in members:
            known |= one.known
        return _Held(term, known)
    source = part.number("source") if kind in ("broadcast", "stream") else -1
    if source < 0:
        return _Held(None, own.known)
    if kind == "stream" and source == part.number("destination") == position:
        return own
    reads = [call for call in calls if call.function == "read"]
    if reads:
        there = isinstance(reads[0].gives, Fold)
        return _Held(held[source].message if there else None, own.known | held[source].known)
    return own if kind == "broadcast" else _Held(None, own.known)


def _all_known(held: Sequence[_Held]) -> int:
    known = 0
    for one in held:
        known |= one.known
    return known


def _wanted(gives: Gives) -> Term | None:
    match gives:
        case Fold(first, last):
            return ((first, last, 0, 0),)
        case Zeros():
            return ZERO
        case Nothing():
            return None
        case _:
            raise AssertionError(gives)


def _nodes(definition: Definition, name: str) -> tuple[int, ...]:
    value = definition.operator.instances[definition.instance].operand(name)
    assert isinstance(value, tuple)
    return value
