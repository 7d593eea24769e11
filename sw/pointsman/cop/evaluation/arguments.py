"""Positional and keyword arguments of operators and of (runtime): evaluated in order, each fault recorded."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pointsman.cop.text.reader import QUOTE, Atom, Form, Keyword, ListForm, Symbol, show
from pointsman.cop.text.source import CopError, suggestion

from .evaluator import ERROR_STEPS, Evaluator
from .values import Scope, Task


@dataclass
class Arguments:
    """Arguments of a form with their values; None for an argument whose evaluation failed."""

    form: ListForm
    positional: list[tuple[Form, object | None]] = field(default_factory=list)
    keywords: dict[str, tuple[Form, object | None]] = field(default_factory=dict)
    failed: bool = False


def evaluate_arguments(
    machine: Evaluator, form: ListForm, scope: Scope, known: Collection[str], *, label: bool = False
) -> Task:
    """Evaluate the arguments of a form; for use with ``yield from``, gives `Arguments`.

    Keywords are written in the form itself, each followed by its value. With ``label`` the first argument is a label.
    """
    given = Arguments(form)
    head = form.items[0]
    kind = head.value if isinstance(head, Atom) else None
    index = 1
    while index < len(form.items):
        item = form.items[index]
        index += 1
        keyword = item.value if isinstance(item, Atom) and isinstance(item.value, Keyword) else None
        if keyword is not None:
            following = form.items[index] if index < len(form.items) else None
            if following is None or (isinstance(following, Atom) and isinstance(following.value, Keyword)):
                machine.record(machine.error(item.at, f"{show(keyword)} must be followed by a value"))
                given.failed = True
                continue
            index += 1
            if keyword not in known or keyword in given.keywords:
                machine.record(_bad_keyword(machine, item, str(kind), keyword, known))
                given.failed = True
                continue
            item = following
        elif label and not given.positional and _is_unquoted_label(machine, item, scope):
            machine.record(
                machine.error(
                    item.at, f"a label must be quoted, not {show(_name(item))}", hint=f"write '{show(_name(item))}"
                )
            )
            given.positional.append((item, None))
            given.failed = True
            continue
        value: object | None = None
        try:
            value = yield from machine.value(item, scope)
        except CopError as error:
            machine.record(error)
            given.failed = True
        if keyword is None:
            given.positional.append((item, value))
        else:
            given.keywords[str(keyword)] = (item, value)
    return given


def element_of(form: Form, *path: int) -> Form:
    """The form of an element of an element …, as far as a quoted list or a call of ``list`` shows it."""
    quoted = False
    for index in path:
        if not isinstance(form, ListForm):
            return form
        items = form.items
        if not quoted:
            head = items[0].value if isinstance(items[0], Atom) else None
            if head == QUOTE and len(items) == 2 and isinstance(items[1], ListForm):
                items, quoted = items[1].items, True
            elif head == "list":
                items = items[1:]
            else:
                return form
        if index >= len(items):
            return form
        form = items[index]
    return form


def _name(form: Form) -> object:
    return form.value if isinstance(form, Atom) else None


def _is_unquoted_label(machine: Evaluator, form: Form, scope: Scope) -> bool:
    return isinstance(form, Atom) and isinstance(form.value, Symbol) and machine.lookup(form.value, scope) is None


def _bad_keyword(machine: Evaluator, item: Form, kind: str, keyword: Keyword, known: Collection[str]) -> CopError:
    if keyword in known:
        return machine.error(item.at, f"{show(keyword)} is given twice")
    machine.charge(ERROR_STEPS)  # the search for a similar word takes time
    hint = suggestion(keyword, known)
    if hint is None:
        hint = f"known are {' '.join(sorted(known))}"
    return machine.error(item.at, f"{kind} has no argument {show(keyword)}", hint=hint)
