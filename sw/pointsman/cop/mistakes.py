"""Likely mistakes in a valid program: warnings, with places.

Takes a Program; gives `CopWarning` in the order of the text. Three passes: over the Program (operators that can never
move a word, run-time operands with a single value), over the text's forms (unused names), and a second evaluation of the
text (subsets that share nodes, groups that turn out empty). A Program made by Python has no text and gets the first pass
only. Nothing here changes the Program, and no pass recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pointsman.cop.evaluation.evaluator import Compound, Evaluator, SpecialForm
from pointsman.cop.evaluation.values import Builtin, Scope, Task
from pointsman.cop.library.library import LIBRARY
from pointsman.program.program import Group, Instance, Operator, Position, Program, Runtime

from .compile import FORMS, evaluate_forms, prelude
from .evaluation.forms import SETTABLE
from .evaluation.operators import ends
from .limits import DEFAULT_LIMITS, Limits
from .python.places import excerpt_of
from .text.reader import FALSE, QUOTE, Atom, Form, ListForm, Symbol, read, show
from .text.source import CopError, Source

RULES = {
    "one-value": "`:values` leaves one value",
    "never-runs": "no node could write, or none could read",
    "moves-nothing": "a shift, permutation or stream that sends every word to where it is, or none anywhere",
    "block-without-loop": "`:block` of a run-time value outside any loop",
    "unused": "a name is defined and nothing uses it",
    "hides": "a definition takes the name of a function or an operator of the language",
    "shared-nodes": "subsets of one list share nodes",
    "empty": "a loop or a doall without operators, which vanishes",
}
"""Kinds of mistakes, by the name in brackets that ends a warning."""
MOST_WARNINGS = 50


@dataclass(frozen=True)
class CopWarning:
    """A likely mistake, with its place."""

    rule: str
    position: Position
    message: str
    excerpt: str = ""
    hint: str | None = None

    def __str__(self) -> str:
        lines = [f"{self.position}: warning: {self.message} [{self.rule}]"]
        if self.excerpt:
            lines.append(self.excerpt)
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


@dataclass
class _Findings:
    source: Source | None
    found: dict[tuple[str, Position], CopWarning] = field(default_factory=dict)

    def add(self, rule: str, position: Position | int | None, message: str, hint: str | None = None) -> None:
        """Keep a warning: the first of each rule at each place."""
        if isinstance(position, int):
            assert self.source is not None
            position = self.source.position(position)
        if position is None or (rule, position) in self.found or len(self.found) >= MOST_WARNINGS:
            return
        excerpt = excerpt_of(position) if self.source is None else self.source.excerpt(self.offset(position))
        self.found[rule, position] = CopWarning(rule, position, message, excerpt, hint)

    def offset(self, position: Position) -> int:
        assert self.source is not None
        starts = self.source.line_starts
        return starts[min(position.line, len(starts)) - 1] + position.column - 1


def find_mistakes(program: Program, *, limits: Limits = DEFAULT_LIMITS) -> tuple[CopWarning, ...]:
    """Warnings about a program, in the order of the text; `MOST_WARNINGS` at most."""
    source = Source(program.source, program.file) if program.source else None
    findings = _Findings(source)
    _look_at_operators(program, findings)
    if source is not None:
        forms = read(source, limits)
        _look_at_names(forms, findings)
        _look_again(program, source, forms, findings, limits)
    order = sorted(findings.found.values(), key=lambda w: (w.position.file, w.position.line, w.position.column, w.rule))
    return tuple(order)


# The Program


def _look_at_operators(program: Program, findings: _Findings) -> None:
    stack: list[tuple[Group | Operator, bool]] = [(program.root, False)]
    while stack:
        part, looped = stack.pop()
        if isinstance(part, Group):
            looped = looped or part.kind == "loop"
            stack.extend((child, looped) for child in reversed(part.children))
            continue
        name = f"{part.kind} '{part.label}'"
        if reason := _never(part):
            findings.add("never-runs", part.position, f"{name} can never move a word: {reason}")
        elif reason := _idle(part):
            findings.add("moves-nothing", part.position, f"{name} moves nothing: {reason}")
        for value in _runtimes(part):
            if value.values is not None and len(value.values) == 1:
                findings.add(
                    "one-value",
                    value.position or part.position,
                    f":values leaves one value, {value.values[0]}",
                    f"write {value.values[0]} instead of (runtime …)",
                )
            if value.block > 1 and not looped:
                findings.add(
                    "block-without-loop",
                    value.position or part.position,
                    f":block {value.block} says how often the value changes in a loop, and there is no loop around it",
                )


def _runtimes(operator: Operator) -> Iterator[Runtime]:
    seen: set[int] = set()
    for instance in operator.instances:
        for _, value in instance.operands:
            if isinstance(value, Runtime) and id(value) not in seen:
                seen.add(id(value))
                yield value


def _never(operator: Operator) -> str | None:
    """Why no instance of a directional operator can carry a word."""
    reasons = []
    for instance in operator.instances:
        writers, readers = ends(operator.kind, instance.nodes, instance.operands)
        if writers and readers:
            return None
        reasons.append("no node may write it" if not writers else "no node may read it")
    alone = all(len(instance.nodes) == 1 for instance in operator.instances)
    return reasons[0] + (", because it is alone in its subset" if alone else "")


def _idle(operator: Operator) -> str | None:
    """Reason why no instance moves a word between nodes; None if some instance does, or if all have a single node only."""
    reasons = {_idle_instance(operator.kind, instance) for instance in operator.instances}
    if None in reasons:
        return None
    reason = min(filter(None, reasons), default="")
    return reason or None


def _idle_instance(kind: str, instance: Instance) -> str | None:
    """Reason why an instance moves no word; "" if it has a single node; None if it moves words."""
    size = len(instance.nodes)
    values = dict(instance.operands)
    if kind == "eoshift" and isinstance(distance := values["distance"], int) and abs(distance) >= size > 1:
        return f"a distance of {distance} leaves a subset of {size} nodes from everywhere"
    if size == 1:
        return ""
    if kind in ("cshift", "eoshift"):
        distance = values["distance"]
        if isinstance(distance, int) and (distance % size if kind == "cshift" else distance) == 0:
            return f"a distance of {distance} in a subset of {size} nodes ends where it begins"
    if kind == "permute" and values["permutation"] == tuple(range(size)):
        return "every node sends to itself"
    if kind == "stream" and isinstance(values["source"], int) and values["source"] == values["destination"]:
        return "source and destination are the same node"
    return None


# The text


@dataclass(slots=True)
class _Name:
    at: int
    what: str
    used: bool = False


_LET = ("let", "let*", "letrec", "doall")


def _look_at_names(forms: Sequence[Form], findings: _Findings) -> None:
    """Definitions of the top level and variables of let and doall that nothing uses."""
    top: dict[str, _Name] = {}
    known = prelude()[1].values
    names: list[tuple[str, _Name]] = []
    used: set[str] = set()
    stack: list[tuple[Form, _Level | None, bool]] = [(form, None, False) for form in reversed(forms)]

    def bind(form: Form, what: str, level: _Level | None, *, report: bool = True) -> None:
        if not isinstance(form, Atom) or not isinstance(form.value, Symbol) or form.value in SETTABLE:
            return
        name = _Name(form.at, what, used=not report)
        (top if level is None else level.names)[str(form.value)] = name
        names.append((str(form.value), name))

    while stack:
        form, level, literal = stack.pop()
        if isinstance(form, Atom):
            if isinstance(form.value, Symbol) and not literal:
                _use(str(form.value), level, used)
            continue
        items = form.items
        head = items[0].value if isinstance(items[0], Atom) else None
        if literal or head == QUOTE:
            continue
        rest: Sequence[Form] = items
        if head in ("define", "define-op", "parameter") and len(items) > 1:
            target = items[1]
            rest = items[2:]
            if head == "parameter" and isinstance(target, ListForm) and len(target.items) == 2:
                target = target.items[1]
            if isinstance(target, ListForm):
                bind(target.items[0], "operator" if head == "define-op" else "function", level)
                level = _Level(level)
                for parameter in target.items[1:]:
                    bind(parameter, "parameter", level, report=False)
            else:
                bind(target, "parameter" if head == "parameter" else "variable", level)
        elif head in ("set!", "setq") and len(items) > 1:
            rest = items[2:]
        elif head == "lambda" and len(items) > 1:
            level = _Level(level)
            for parameter in items[1].items if isinstance(items[1], ListForm) else ():
                bind(parameter, "parameter", level, report=False)
            rest = items[2:]
        elif head in _LET and len(items) > 1:
            inner = _Level(level)
            bindings = items[1]
            rest = items[2:]
            if isinstance(bindings, Atom) and isinstance(bindings.value, Symbol) and len(items) > 2:
                bind(bindings, "function", inner, report=False)  # a named let
                bindings, rest = items[2], items[3:]
            for pair in bindings.items if isinstance(bindings, ListForm) else ():
                if isinstance(pair, ListForm):
                    bind(pair.items[0], "variable", inner)
                    # Values of let see the names outside; for let* and letrec both are counted, which errs to silence.
                    stack.extend((value, level, False) for value in pair.items[1:])
                    if head in ("let*", "letrec"):
                        stack.extend((value, inner, False) for value in pair.items[1:])
            level = inner
        stack.extend((item, level, False) for item in reversed(rest))
    for name, entry in names:
        # A name used before its definition resolves outwards. Names in `used` give no warning, to avoid false warnings.
        if not entry.used and name not in used and not name.startswith("_"):
            findings.add("unused", entry.at, f"{entry.what} {show(Symbol(name))} is never used")
        if top.get(name) is entry and isinstance(LIBRARY.get(name, known.get(name)), Builtin | Compound):
            findings.add(
                "hides",
                entry.at,
                f"{entry.what} {show(Symbol(name))} hides what the language has under that name",
            )


class _Level:
    """Names of a lexical level within a top-level form."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: _Level | None) -> None:
        self.names: dict[str, _Name] = {}
        self.outer = outer


def _use(name: str, level: _Level | None, used: set[str]) -> None:
    while level is not None:
        if name in level.names:
            level.names[name].used = True
            return
        level = level.outer
    used.add(name)


# The evaluation


def _look_again(program: Program, source: Source, forms: Sequence[Form], findings: _Findings, limits: Limits) -> None:
    """Evaluate the text again, with forms (``subset``, ``loop``, ``doall``) that also report mistakes."""
    special = {**FORMS, "subset": _watch_subset(findings)}
    for name in ("loop", "doall"):
        special[name] = _watch_empty(FORMS[name], findings)
    try:
        evaluate_forms(
            source,
            forms,
            topology=program.topology,
            parameters=dict(program.parameters),
            limits=limits,
            mode=program.mode,
            schedlen=program.schedlen,
            special=special,
        )
    except CopError:
        # The first evaluation succeeded: the text nearly reaches a limit, which the extra checks exceed.
        return


def _watch_subset(findings: _Findings) -> SpecialForm:
    def subset(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
        value = yield from machine.value(form.items[1], scope)
        if isinstance(value, tuple) and form.items[1].at >= 0:
            seen: dict[object, int] = {}
            for number, members in enumerate(entry for entry in value if isinstance(entry, tuple)):
                for member in members:
                    first = seen.setdefault(member, number)
                    if first != number:
                        findings.add(
                            "shared-nodes",
                            form.items[1].at,
                            f"subsets {first} and {number} of the list both hold node {show(member)}",
                            "an operator's instances may not share a writing or a reading node",
                        )
        known = ListForm((form.items[0], Atom(value, form.items[1].at), *form.items[2:]), form.at)
        return (yield from FORMS["subset"](machine, known, scope))

    return subset


def _watch_empty(inner: SpecialForm, findings: _Findings) -> SpecialForm:
    def watched(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
        value = yield from inner(machine, form, scope)
        if value == FALSE and form.at >= 0:
            head = form.items[0]
            word = show(head.value) if isinstance(head, Atom) else ""
            findings.add("empty", form.at, f"this {word} holds no operator on this network and vanishes")
        return value

    return watched
