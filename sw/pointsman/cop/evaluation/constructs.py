"""Constructs of COP: groups, subsets, run-time values, defaults and parameters (Metcalf 1997, A.4 and A.5).

Each is a special form, registered in `CONSTRUCTS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.cop.text.reader import FALSE, QUOTE, Atom, Form, ListForm, Symbol, show
from pointsman.cop.text.source import CopError
from pointsman.program.program import GroupKind, Runtime

from .arguments import element_of, evaluate_arguments
from .evaluator import Evaluator, SpecialForm
from .forms import binding_pairs, check_name
from .operators import OPERATORS, operator_form, take_label
from .options import DEFAULTABLE, approximate, boolean, positive, take_option
from .parts import Part, copies, group, parallel, sequential
from .values import POISON, Scope, Task

RUNTIME_ARGUMENTS = (":values", ":distributed", ":block", ":dynamic")


def loop_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(loop LABEL COUNT OP …)``; COUNT is approximate."""
    if len(form.items) < 3:
        raise machine.error(form.at, "loop takes a label and a count", hint="(loop LABEL COUNT OP ...)")
    head = ListForm(form.items[:3], form.at)
    given = yield from evaluate_arguments(machine, head, scope, (), label=True)
    label: str | None = None
    count: int | None = None
    if len(given.positional) == 2:
        (label_form, label_value), (count_form, count_value) = given.positional
        if label_value is not None:
            label = take_label(machine, label_form, label_value)
        if count_value is not None:
            try:
                count = approximate(machine, count_form, count_value, "loop count")
            except CopError as error:
                machine.record(error)
    children = yield from _children(machine, form.items[3:], scope)
    if label is None or count is None or not children:
        return FALSE
    machine.count_made(1, form.at)
    label_at = machine.place(form.items[1].at)
    return group(machine, "loop", children, machine.place(form.at), label=label, count=count, label_at=label_at)


def sequential_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(sequential OP …)``."""
    children = yield from _children(machine, form.items[1:], scope)
    machine.count_made(1, form.at)
    return _value(sequential(machine, children, machine.place(form.at)))


def parallel_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(parallel OP …)``."""
    children = yield from _children(machine, form.items[1:], scope)
    machine.count_made(1, form.at)
    return _value(parallel(machine, children, machine.place(form.at)))


def _ordered_form(kind: GroupKind) -> SpecialForm:
    def form_of_kind(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
        children = yield from _children(machine, form.items[1:], scope)
        machine.count_made(1, form.at)
        return group(machine, kind, children, machine.place(form.at)) if children else FALSE

    form_of_kind.__doc__ = f"``({kind} OP …)``."
    return form_of_kind


def subset_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(subset SUBSETS OP …)``: the body once for each subset, sequential inside, the copies parallel."""
    if len(form.items) < 2:
        raise machine.error(form.at, "subset takes a list of subsets", hint="(subset '((0 1) (2 3)) OP ...)")
    value = yield from machine.value(form.items[1], scope)
    subsets = _take_subsets(machine, form.items[1], value)
    outer = machine.context
    bodies = []
    try:
        for members in subsets:
            machine.context = outer.inner(members)
            bodies.append((yield from _children(machine, form.items[2:], scope)))
    finally:
        machine.context = outer
    machine.count_made(1, form.at)
    return _value(copies(machine, bodies, machine.place(form.at)))


def doall_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(doall ((VAR LIST) …) OP …)``: parallel over all combinations, the first variable slowest."""
    if len(form.items) < 2:
        raise machine.error(form.at, "doall takes variables with lists", hint="(doall ((i (all 4))) OP ...)")
    names: list[str] = []
    lists: list[Sequence[object]] = []
    for name, value_form in binding_pairs(machine, form.items[1], "doall"):
        value = yield from machine.value(value_form, scope)
        if not isinstance(value, tuple):
            raise machine.error(value_form.at, f"doall variable {name} needs a list, not {show(value)}")
        names.append(name)
        lists.append(value)
    children: list[Part] = []
    indices = [0] * len(names)
    while all(indices[k] < len(lists[k]) for k in range(len(names))):
        machine.charge(1)
        values: dict[str, object] = {name: lists[k][indices[k]] for k, name in enumerate(names)}
        children.extend((yield from _children(machine, form.items[2:], Scope(values, scope))))
        for k in reversed(range(len(names))):
            indices[k] += 1
            if indices[k] < len(lists[k]) or k == 0:
                break
            indices[k] = 0
        if not names:
            break
    machine.count_made(1, form.at)
    return _value(parallel(machine, children, machine.place(form.at)))


def runtime_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(runtime …)``: stands for a value that the application gives to the load function."""
    given = yield from evaluate_arguments(machine, form, scope, RUNTIME_ARGUMENTS)
    if given.positional:
        at = given.positional[0][0].at
        machine.record(machine.error(at, "runtime takes keyword arguments only", hint=" ".join(RUNTIME_ARGUMENTS)))
        given.failed = True
    taken: dict[str, Any] = {}
    for name, (value_form, value) in given.keywords.items():
        if value is None:
            continue
        try:
            if name == ":values":
                taken[name] = _take_values(machine, value_form, value)
            elif name == ":block":
                taken[name] = positive(machine, value_form, value, ":block")
            else:
                taken[name] = boolean(machine, value_form, value, name)
        except CopError as error:
            machine.record(error)
            given.failed = True
    if given.failed:
        raise machine.poisoned(form.at)
    dynamic = taken.get(":dynamic", False)
    return Runtime(
        values=taken.get(":values"),
        distributed=dynamic or taken.get(":distributed", False),  # :dynamic is the stronger of the two
        dynamic=dynamic,
        block=taken.get(":block", 1),
        position=machine.position(form.at),
    )


def defaults_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(defaults :m 225 …)``: optional arguments of the operators that follow in the enclosing construct.

    ``nil`` takes a default back.
    """
    given = yield from evaluate_arguments(machine, form, scope, DEFAULTABLE)
    if given.positional:
        at = given.positional[0][0].at
        machine.record(machine.error(at, "defaults takes keyword arguments only", hint=" ".join(DEFAULTABLE)))
    changed = dict(machine.defaults)
    for name, (value_form, value) in given.keywords.items():
        if value is None:
            continue
        if value == FALSE:
            changed.pop(name, None)
            continue
        try:
            changed[name] = take_option(machine, name, value_form, value)
        except CopError as error:
            machine.record(error)
    machine.defaults = changed
    return FALSE


def parameter_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(parameter NAME DEFAULT)``: an integer that the host may set."""
    if len(form.items) != 3:
        raise machine.error(form.at, "parameter takes a name and a default", hint="(parameter NAME DEFAULT)")
    name_form = form.items[1]
    if isinstance(name_form, ListForm) and len(name_form.items) == 2 and _is_quote(name_form.items[0]):
        name_form = name_form.items[1]
    name = check_name(machine, name_form, "parameter")
    if scope is not machine.globals:
        raise machine.error(form.at, "a parameter must be defined at the top level")
    if name in machine.parameters:
        raise machine.error(name_form.at, f"parameter '{show(Symbol(name))}' is defined twice")
    try:
        default = yield from machine.value(form.items[2], scope)
        if type(default) is not int:
            raise machine.error(form.items[2].at, f"a parameter must be an integer, not {show(default)}")
    except CopError:
        machine.globals.values[name] = POISON
        machine.parameters[name] = 0
        raise
    value = machine.host_parameters.get(name, default)
    machine.parameters[name] = value
    machine.globals.values[name] = value
    return FALSE


def _children(machine: Evaluator, forms: Sequence[Form], scope: Scope) -> Task:
    """Evaluate a construct's body in a scope of its own; gives its operators and groups."""
    return (yield from machine.operators(forms, Scope({}, scope)))


def _value(part: Part | None) -> object:
    return FALSE if part is None else part


def _is_quote(form: Form) -> bool:
    return isinstance(form, Atom) and form.value == QUOTE


def _take_values(machine: Evaluator, form: Form, value: object) -> tuple[int, ...]:
    if not isinstance(value, tuple) or not value:
        raise machine.error(form.at, f":values must be a list of integers, not {show(value)}")
    machine.charge(len(value))
    for place, entry in enumerate(value):
        if type(entry) is not int:
            raise machine.error(element_of(form, place).at, f":values must be integers, not {show(entry)}")
    return tuple(dict.fromkeys(value))


def _take_subsets(machine: Evaluator, form: Form, value: object) -> list[tuple[int, ...]]:
    """Check a list of subsets, or a flat list of nodes as a single subset; gives the subsets."""
    if not isinstance(value, tuple):
        raise machine.error(form.at, f"subset takes a list of subsets, not {show(value)}")
    if not value:
        raise machine.error(form.at, "there must be at least one subset")
    flat = not isinstance(value[0], tuple)
    lists = (value,) if flat else value
    context = machine.context
    subsets = []
    for number, members in enumerate(lists):
        path = () if flat else (number,)
        if not isinstance(members, tuple):
            raise machine.error(
                element_of(form, *path).at,
                f"a list of subsets must hold lists of nodes only, not {show(members)}",
                hint="one subset: '(0 1 2); several: '((0 1 2) (3 4 5))",
            )
        if not members:
            raise machine.error(element_of(form, *path).at, "a subset must have at least one node")
        machine.charge(len(members))
        seen: set[int] = set()
        for place, member in enumerate(members):
            at = (*path, place)
            if type(member) is not int:
                raise machine.error(element_of(form, *at).at, f"a subset must hold node numbers, not {show(member)}")
            if not 0 <= member < len(context):
                raise machine.error(
                    element_of(form, *at).at,
                    f"subset node {show(member)} is outside the {'network' if context.whole else 'enclosing subset'} "
                    f"(0..{len(context) - 1})",
                    hint=context.numbering,
                )
            if member in seen:
                raise machine.error(element_of(form, *at).at, f"a subset must not name node {member} twice")
            seen.add(member)
        subsets.append(members)
    return subsets


CONSTRUCTS: Mapping[str, SpecialForm] = {
    "loop": loop_form,
    "sequential": sequential_form,
    "parallel": parallel_form,
    "optional": _ordered_form("optional"),
    "phase": _ordered_form("phase"),
    "subset": subset_form,
    "doall": doall_form,
    "runtime": runtime_form,
    "defaults": defaults_form,
    "parameter": parameter_form,
    **dict.fromkeys(OPERATORS, operator_form),
}
