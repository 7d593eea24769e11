"""Forms of the primitive operators of `pointsman.program.catalogue`: label, operands, optional arguments.

An operator's form is checked completely: all its faults are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pointsman.cop.text.reader import Atom, Form, ListForm, Symbol, show
from pointsman.cop.text.source import CopError, FollowOnError
from pointsman.program.catalogue import OPERATORS, Operand, OperatorSpec
from pointsman.program.program import Runtime, Value

from .arguments import Arguments, element_of, evaluate_arguments
from .evaluator import Evaluator
from .options import OPTIONS, options_of
from .parts import InstancePart, OperatorPart
from .values import Scope, Task

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_NAME = 64
INT32 = range(-(2**31), 2**31)


def runtime_operands(operands: Iterable[tuple[str, Value]]) -> list[Runtime]:
    """The run-time values among operands, in the order in which the load function takes them."""
    return [value for _, value in operands if isinstance(value, Runtime)]


def ends(kind: str, nodes: Sequence[int], operands: Iterable[tuple[str, Value]]) -> tuple[Sequence[int], Sequence[int]]:
    """Nodes of the network that may write and that may read an instance."""
    spec = OPERATORS[kind]
    values = dict(operands)

    def those(rule: str) -> Sequence[int]:
        if rule == "all":
            return nodes
        value = values[rule.removeprefix("-")]
        if isinstance(value, int):
            named: tuple[int, ...] = (value,)
        elif isinstance(value, tuple):
            named = value
        else:
            assert isinstance(value, Runtime)
            chain = next((frozenset(v) for v in values.values() if isinstance(v, tuple)), frozenset())
            legal = range(len(nodes)) if value.values is None else value.values
            named = tuple(member for member in legal if member not in chain)
        if not rule.startswith("-"):
            return [nodes[member] for member in named]
        return [node for member, node in enumerate(nodes) if named != (member,)]

    return those(spec.writers), those(spec.readers)


def operator_form(machine: Evaluator, form: ListForm, scope: Scope, passed: Mapping[str, object] | None = None) -> Task:
    """Evaluate an operator's form: the value is an operator with a single instance.

    ``passed`` are optional arguments that the surrounding compound operator hands on.
    """
    head = form.items[0]
    assert isinstance(head, Atom)
    spec = OPERATORS[str(head.value)]
    given = yield from evaluate_arguments(machine, form, scope, OPTIONS, label=True)
    checked = _Checker(machine, spec, given)
    label, label_at = checked.label()
    operands = checked.operands()
    options, c = options_of(machine, spec.kind, given, form.at, passed or {})
    if given.failed or operands is None or label is None or options is None:
        return ()
    if options.valid is not None:
        checked.valid(options.valid, operands)
    machine.count_made(1, form.at)
    at = machine.place(form.at)
    instance = InstancePart(machine.context.nodes, operands, at)
    machine.created[id(instance)] = instance
    return OperatorPart(label, spec.kind, options, c, (instance,), at, machine.place(label_at))


def take_label(machine: Evaluator, form: Form, value: object) -> str | None:
    """Check a label; None, with an error recorded, if ``value`` cannot be a label."""
    return _take_name(machine, form, value, "label")


def _take_name(machine: Evaluator, form: Form, value: object, what: str) -> str | None:
    if not isinstance(value, Symbol):
        machine.record(machine.error(form.at, f"a {what} must be a name such as '{what[0]}, not {show(value)}"))
    elif not NAME.fullmatch(value) or len(value) > LONGEST_NAME:
        fixed = re.sub(r"[^A-Za-z0-9_]", "_", value)
        hint = (
            f"for instance '{fixed}"
            if NAME.fullmatch(fixed) and fixed.strip("_") and len(fixed) <= LONGEST_NAME
            else None
        )
        machine.record(
            machine.error(
                form.at,
                f"{what} '{show(value)}' must be up to {LONGEST_NAME} ASCII letters, digits and _, "
                "and not begin with a digit",
                hint=hint,
            )
        )
    else:
        return str(value)
    return None


class _Checker:
    """Checks label and operands of an operator form and records errors."""

    def __init__(self, machine: Evaluator, spec: OperatorSpec, given: Arguments) -> None:
        self.machine = machine
        self.spec = spec
        self.given = given
        self.size = len(machine.context)

    def label(self) -> tuple[str | None, int]:
        if not self.given.positional:
            self._fail(self.given.form, f"{self.spec.kind} needs a label", hint=self.spec.syntax)
            return None, 0
        form, value = self.given.positional[0]
        return (None if value is None else take_label(self.machine, form, value)), form.at

    def operands(self) -> tuple[tuple[str, Value], ...] | None:
        """Name and value of each operand; None if any is wrong."""
        values = self.given.positional[1:]
        wanted = self.spec.operands
        if self.spec.kind == "reduce" and _swapped([value for _, value in values]):
            values = values[::-1]
        least = sum(not operand.optional for operand in wanted)
        if not least <= len(values) <= len(wanted):
            if self.given.positional:
                counts = f"{least}" if least == len(wanted) else f"{least} or {len(wanted)}"
                noun = "operand" if counts == "1" else "operands"
                self._fail(
                    values[len(wanted)][0] if len(values) > len(wanted) else self.given.form,
                    f"{self.spec.kind} takes a label and {counts if wanted else 'no'} {noun}, not {len(values)}",
                    hint=self.spec.syntax,
                )
            return None
        if len(values) < len(wanted):
            skipped = next(i for i, operand in enumerate(wanted) if operand.optional)
            values = [*values[:skipped], (self.given.form, _LEFT_OUT), *values[skipped:]]
        result: list[tuple[str, Value] | None] = []
        for operand, (form, value) in zip(wanted, values, strict=True):
            if value is None:
                result.append(None)
                continue
            try:
                result.append((operand.name, self._operand(operand, form, value)))
            except CopError as error:
                self.machine.record(error)
                result.append(None)
        if any(entry is None for entry in result):
            return None
        whole = tuple(entry for entry in result if entry is not None)
        forms = {operand.name: form for operand, (form, _) in zip(wanted, values, strict=True)}
        return whole if self._check_chain(forms, whole) else None

    def valid(self, valid: tuple[int, ...], operands: tuple[tuple[str, Value], ...]) -> None:
        """Refuse operands that name a node outside ``:valid``."""
        form = self.given.keywords[":valid"][0] if ":valid" in self.given.keywords else self.given.form
        for operand, (name, value) in zip(self.spec.operands, operands, strict=True):
            if operand.sort not in ("node", "nodes"):
                continue
            named = value if isinstance(value, tuple) else (value,) if isinstance(value, int) else ()
            for node in named:
                if node not in valid:
                    self._fail(form, f"{self.spec.kind} {name} {node} is not among the :valid nodes")
                    break

    def _operand(self, operand: Operand, form: Form, value: object) -> Value:
        if value is _LEFT_OUT:
            return None
        if isinstance(value, Runtime):
            return self._runtime(operand, form, value)
        what = f"{self.spec.kind} {operand.name}"
        if operand.sort == "node":
            return self._node(form, value, what)
        if operand.sort == "distance":
            return self._distance(form, value, what)
        if operand.sort == "permutation":
            return self._permutation(form, value)
        if operand.sort == "nodes":
            return self._nodes(form, value, what)
        name = _take_name(self.machine, form, value, "function")
        if name is None:
            raise FollowOnError("reported", position=self.machine.position(form.at))
        return name

    def _node(self, form: Form, value: object, what: str) -> int:
        context = self.machine.context
        if type(value) is not int:
            raise self.machine.error(form.at, f"{what} must be a node number, not {show(value)}")
        if not 0 <= value < self.size:
            raise self.machine.error(
                form.at,
                f"{what} {show(value)} is outside the {context.noun} (0..{self.size - 1})",
                hint=context.numbering,
            )
        return value

    def _distance(self, form: Form, value: object, what: str) -> int:
        if type(value) is not int:
            raise self.machine.error(form.at, f"{what} must be an integer, not {show(value)}")
        if value not in INT32:
            raise self.machine.error(form.at, f"{what} must fit 32 bits, not {show(value)}")
        return value

    def _permutation(self, form: Form, value: object) -> tuple[int, ...]:
        machine = self.machine
        if not isinstance(value, tuple):
            raise machine.error(form.at, f"a permutation must be a list of nodes, not {show(value)}")
        if len(value) != self.size:
            raise machine.error(
                form.at,
                f"a permutation must have one entry for each node of the {machine.context.noun}, "
                f"{self.size}, not {len(value)}",
            )
        machine.charge(len(value))
        seen: dict[int, int] = {}
        for place, entry in enumerate(value):
            node = self._node(element_of(form, place), entry, f"permutation entry {place},")
            if node in seen:
                raise machine.error(
                    element_of(form, place).at,
                    f"entries {seen[node]} and {place} of the permutation both name node {node}",
                    hint="each node must be named exactly once",
                )
            seen[node] = place
        return value

    def _nodes(self, form: Form, value: object, what: str) -> tuple[int, ...]:
        machine = self.machine
        if not isinstance(value, tuple) or not value:
            raise machine.error(form.at, f"{what} must be a list of nodes, not {show(value)}")
        machine.charge(len(value))
        seen: set[int] = set()
        for place, entry in enumerate(value):
            node = self._node(element_of(form, place), entry, what)
            if node in seen:
                raise machine.error(element_of(form, place).at, f"{what} must not name node {node} twice")
            seen.add(node)
        return value

    def _check_chain(self, forms: Mapping[str, Form], operands: tuple[tuple[str, Value], ...]) -> bool:
        """Refuse a seqread or seqwrite whose single end is in the chain."""
        chain = dict(operands).get(self.spec.chain) if self.spec.chain is not None else None
        if not isinstance(chain, tuple):
            return True
        members = set(chain)
        for name, value in operands:
            values = (value,) if isinstance(value, int) else (isinstance(value, Runtime) and value.values) or ()
            for node in values:
                if node in members:
                    self._fail(forms[name], f"{self.spec.kind} {name} {node} is one of its {self.spec.chain}")
                    return False
            if isinstance(value, Runtime) and len(members) == self.size:
                self._fail(forms[name], f"no node is left to be the {name}: all are {self.spec.chain}")
                return False
        return True

    def _runtime(self, operand: Operand, form: Form, value: Runtime) -> Runtime:
        machine = self.machine
        what = f"{self.spec.kind} {operand.name}"
        if not operand.runtime:
            raise machine.error(form.at, f"{what} must be constant, not a run-time value")
        # :dynamic implies :distributed, so only the stronger of the two is looked at.
        sort = "dynamic" if value.dynamic else "distributed" if value.distributed else "plain"
        if sort not in operand.runtime:
            hint = f"it may be :{operand.runtime[-1]} t" if len(operand.runtime) > 1 else None
            raise machine.error(form.at, f"{what} may not be :{sort}", hint=hint)
        if value.values is None:
            return value
        machine.charge(len(value.values))
        at = _keyword_value(form, ":values")
        for place, entry in enumerate(value.values):
            here = form if at is None else element_of(at, place)
            if operand.sort == "node":
                self._node(here, entry, what)
            elif operand.sort == "distance":
                self._distance(here, entry, what)
            else:
                raise machine.error((at or form).at, f"the values of a {operand.sort} cannot be listed")
        return value

    def _fail(self, form: Form, message: str, *, hint: str | None = None) -> None:
        self.machine.record(self.machine.error(form.at, message, hint=hint))


class _LeftOut:
    """Value of an optional operand that is not given."""


_LEFT_OUT = _LeftOut()


def _swapped(values: Sequence[object]) -> bool:
    """Whether the operands of a reduce stand as in (reduce LABEL DESTINATION FUNCTION).

    Both orders occur in Metcalf 1997 (§2.3 and A.1); they are told apart by the name or the number among them. Two
    run-time values stand in the order of A.1.
    """
    if len(values) != 2:
        return False
    first, second = values
    if isinstance(second, Symbol):
        return not isinstance(first, Symbol)
    return isinstance(first, int) and isinstance(second, Runtime)


def _keyword_value(form: Form, keyword: str) -> Form | None:
    """The form after a keyword within a list form."""
    if isinstance(form, ListForm):
        for item, following in zip(form.items, form.items[1:], strict=False):
            if isinstance(item, Atom) and item.value == keyword:
                return following
    return None
