"""Compound operators, defined in terms of operators: ``define-op`` and ``call-op`` (Metcalf 1997, A.7).

A compound operator is called like a primitive operator, with optional arguments. Within its definition
``(call-op OPERATOR ARGUMENT …)`` hands these on; an operator written without ``call-op`` takes its defaults. ``prelude.cop``
has the compound operators that come with the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pointsman.cop.text.reader import FALSE, Atom, Form, Keyword, ListForm, Symbol, show
from pointsman.cop.text.source import CopError, suggestion
from pointsman.program.catalogue import OPERATORS

from .arguments import Arguments, evaluate_arguments
from .evaluator import Evaluator, SpecialForm
from .forms import check_name, take_parameters
from .operators import operator_form
from .options import OPTIONS, take_option
from .values import Complaint, Compound, Scope, Task

SYNTAX = "(define-op (NAME PARAMETER ...) BODY ...)"


def define_op_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(define-op (NAME PARAMETER …) BODY …)``."""
    if len(form.items) < 3 or not isinstance(form.items[1], ListForm):
        raise machine.error(form.at, "define-op takes the operator with its parameters, and a body", hint=SYNTAX)
    target = form.items[1]
    name = check_name(machine, target.items[0], "operator")
    parameters = take_parameters(machine, target.items[1:])
    scope.values[name] = Compound(name, parameters, form.items[2:], scope, _evaluate, _expand)
    return FALSE
    yield


def call_op_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(call-op OPERATOR ARGUMENT …)``: an operator, with the optional arguments of the compound operator around."""
    head = form.items[1] if len(form.items) > 1 else None
    if not isinstance(head, Atom) or type(head.value) is not Symbol:
        raise machine.error(
            form.at, "call-op takes the name of an operator and its arguments", hint="(call-op stream 's 0 1)"
        )
    call = ListForm(form.items[1:], form.at)
    name = str(head.value)
    if name in OPERATORS:
        return (yield from operator_form(machine, call, scope, machine.passed))
    if name in machine.forms:
        raise machine.error(head.at, f"'{name}' is a construct, not an operator")
    operator = machine.resolve(head, name, scope, called=True)
    if not isinstance(operator, Compound):
        hint = suggestion(name, OPERATORS)
        raise machine.error(head.at, f"'{show(head.value)}' is not an operator", hint=hint)
    return (yield from _evaluate(machine, operator, call, scope, machine.passed))


def _evaluate(
    machine: Evaluator,
    compound: Compound,
    form: ListForm,
    scope: Scope,
    passed: Mapping[str, object] | None = None,
) -> Task:
    """A form that calls a compound operator: arguments, of which some may be keywords."""
    given: Arguments = yield from evaluate_arguments(machine, form, scope, OPTIONS, label=True)
    options: dict[str, object] = dict(passed or {})
    failed = given.failed
    for keyword, (value_form, value) in given.keywords.items():
        try:
            options[keyword] = take_option(machine, keyword, value_form, value)
        except CopError as error:
            machine.record(error)
            failed = True
    if failed:
        raise machine.poisoned(form.at)
    return (yield from _body(machine, compound, [value for _, value in given.positional], options, form))


def _expand(machine: Evaluator, compound: Compound, values: list[Any], form: Form) -> Task:
    """A call by ``apply`` or ``map``: values, of which some may be keywords with values after them."""
    positional: list[object] = []
    options: dict[str, object] = {}
    rest = iter(values)
    for value in rest:
        if not isinstance(value, Keyword):
            positional.append(value)
            continue
        following = next(rest, value)
        if isinstance(following, Keyword):
            raise machine.error(form.at, f"{show(value)} must be followed by a value")
        if value not in OPTIONS or value in options:
            what = "is given twice" if value in options else f"is no argument of {compound.name}"
            raise machine.error(form.at, f"{show(value)} {what}", hint=suggestion(value, OPTIONS))
        options[str(value)] = take_option(machine, value, form, following)
    return (yield from _body(machine, compound, positional, options, form))


def _body(
    machine: Evaluator, compound: Compound, values: list[object], options: Mapping[str, object], form: Form
) -> Task:
    try:
        scope = Scope(compound.parameters.bind(machine, compound.name, values), compound.scope)
    except Complaint as complaint:
        hint = f"({' '.join([compound.name, *map(str.upper, compound.parameters.names)])})"
        raise machine.error(form.at, complaint.message, hint=hint) from None
    defaults, around = machine.defaults, machine.passed
    machine.calls.append(form.at)
    machine.passed = options
    try:
        return (yield from machine.body(compound.body, scope))
    finally:
        machine.calls.pop()
        machine.defaults, machine.passed = defaults, around


COMPOUND_FORMS: Mapping[str, SpecialForm] = {"define-op": define_op_form, "call-op": call_op_form}
