"""Special forms of the Lisp that COP stands in: definitions, control, quoting."""

from __future__ import annotations

from collections.abc import Mapping

from pointsman.cop.text.reader import (
    FALSE,
    QUASIQUOTE,
    SPLICE,
    TRUE,
    UNQUOTE,
    Atom,
    Form,
    ListForm,
    Symbol,
    datum,
    show,
)
from pointsman.cop.text.source import CopError
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus

from .evaluator import Evaluator, SpecialForm
from .geometry import AXES, NETWORK_VARIABLES, SubsetContext
from .values import POISON, UNSET, Closure, Complaint, Parameters, Scope, Task, equal

MODES = ("numesh", "dyn", "tdm")
"""Values of ``*mode*``: scheduled routers, packet routers, the multiplexed switch."""
SETTABLE = (*(f"*{axis}{what}*" for axis in AXES for what in ("phys", "size")), "*mode*", "*schedlen*")


def quote_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(quote X)``, ``'X``."""
    _count(machine, form, 1, 1, "(quote X)")
    quoted = form.items[1]
    if isinstance(quoted, ListForm) and quoted.datum is None:
        value = datum(quoted)
        assert isinstance(value, tuple)
        machine.allocate(len(value))
        return value
    return datum(quoted)
    yield  # makes this a task like every other form


def quasiquote_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(quasiquote X)``, `` `X ``: X with the values of ``,Y`` in it, and of ``,@Y`` spread out."""
    _count(machine, form, 1, 1, "(quasiquote X)")
    return (yield from _quasi(machine, form.items[1], scope, 1))


def _quasi(machine: Evaluator, form: Form, scope: Scope, level: int) -> Task:
    if isinstance(form, Atom):
        return form.value
    head = form.items[0].value if isinstance(form.items[0], Atom) else None
    if head == UNQUOTE and isinstance(head, Symbol):
        _count(machine, form, 1, 1, "(unquote X)")
        if level == 1:
            return (yield from machine.value(form.items[1], scope))
    inner = level + (head == QUASIQUOTE) - (head in (UNQUOTE, SPLICE)) if isinstance(head, Symbol) else level
    items: list[object] = []
    for item in form.items:
        if level == 1 and _is_splice(item):
            assert isinstance(item, ListForm)
            _count(machine, item, 1, 1, "(unquote-splicing X)")
            value = yield from machine.value(item.items[1], scope)
            if not isinstance(value, tuple):
                raise machine.error(item.items[1].at, f"expected a list to spread out, not {show(value)}")
            machine.allocate(len(value))
            items.extend(value)
        elif isinstance(item, ListForm):
            items.append((yield _quasi(machine, item, scope, inner)))
        else:
            items.append(item.value)
    return machine.list_of(items)


def _is_splice(form: Form) -> bool:
    if not isinstance(form, ListForm) or not isinstance(form.items[0], Atom):
        return False
    head = form.items[0].value
    return isinstance(head, Symbol) and head == SPLICE


def unquote_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(unquote X)`` and ``(unquote-splicing X)`` have no meaning of their own."""
    raise machine.error(form.at, "a comma means something only within a quasi-quotation", hint="`(a ,b ,@c)")
    yield


def define_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(define NAME VALUE)`` or ``(define (NAME ARG …) BODY …)``."""
    _count(machine, form, 2, None, "(define NAME VALUE)")
    target = form.items[1]
    if isinstance(target, ListForm):
        name = check_name(machine, target.items[0], "function")
        scope.values[name] = _closure(machine, name, target.items[1:], form.items[2:], scope)
        return FALSE
    _count(machine, form, 2, 2, "(define NAME VALUE)")
    return (yield from _assign(machine, target, form.items[2], scope, new=True))


def set_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(set! NAME VALUE)``: gives a new value to a name that already has a value."""
    _count(machine, form, 2, 2, "(set! NAME VALUE)")
    return (yield from _assign(machine, form.items[1], form.items[2], scope, new=False))


def _assign(machine: Evaluator, target: Form, value_form: Form, scope: Scope, *, new: bool) -> Task:
    if isinstance(target, Atom) and target.value in (*SETTABLE, *NETWORK_VARIABLES):
        value = yield from machine.value(value_form, scope)
        set_network_variable(machine, str(target.value), value, target.at, value_form.at)
        return FALSE
    name = check_name(machine, target, "variable")
    holder: Scope | None = scope
    if not new:
        while holder is not None and (name not in holder.values or holder is machine.library):
            holder = holder.outer
        if holder is None:
            raise machine.error(target.at, f"'{show(Symbol(name))}' is not defined here", hint="use define")
    assert holder is not None
    try:
        holder.values[name] = yield from machine.value(value_form, scope)
    except CopError:
        holder.values[name] = POISON
        raise
    return FALSE


def lambda_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(lambda (ARG …) BODY …)``."""
    _count(machine, form, 2, None, "(lambda (ARG ...) BODY)")
    arguments = form.items[1]
    if isinstance(arguments, Atom) and arguments.value != FALSE:
        raise machine.error(arguments.at, f"lambda takes a list of names, not {show(arguments.value)}")
    names = arguments.items if isinstance(arguments, ListForm) else ()
    return _closure(machine, "lambda", names, form.items[2:], scope)
    yield


def let_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(let ((NAME VALUE) …) BODY …)``: the values do not see the names.

    ``(let AGAIN ((NAME VALUE) …) BODY …)``: in the body, ``(AGAIN VALUE …)`` does it again.
    """
    _count(machine, form, 2, None, "(let ((NAME VALUE) ...) BODY)")
    values: dict[str, object] = {}
    first = form.items[1]
    if isinstance(first, Atom) and isinstance(first.value, Symbol):
        _count(machine, form, 3, None, "(let AGAIN ((NAME VALUE) ...) BODY)")
        name = check_name(machine, first, "function")
        pairs = binding_pairs(machine, form.items[2], "let")
        arguments = []
        for _, value_form in pairs:
            arguments.append((yield from machine.value(value_form, scope)))
        inner = Scope({}, scope)
        parameters = Parameters(tuple(name for name, _ in pairs), len(pairs))
        function = inner.values[name] = Closure(name, parameters, form.items[3:], inner)
        return (yield from machine.apply(function, arguments, form))
    for name, value_form in binding_pairs(machine, form.items[1], "let"):
        values[name] = yield from machine.value(value_form, scope)
    return (yield from _inner_body(machine, form, Scope(values, scope)))


def let_star_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(let* ((NAME VALUE) …) BODY …)``: each value sees the names before it."""
    _count(machine, form, 2, None, "(let* ((NAME VALUE) ...) BODY)")
    for name, value_form in binding_pairs(machine, form.items[1], "let*", again=True):
        value = yield from machine.value(value_form, scope)
        scope = Scope({name: value}, scope)
    return (yield from _inner_body(machine, form, Scope({}, scope)))


def letrec_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(letrec ((NAME VALUE) …) BODY …)``: each value sees all names, and may use names that have their value already."""
    _count(machine, form, 2, None, "(letrec ((NAME VALUE) ...) BODY)")
    pairs = binding_pairs(machine, form.items[1], "letrec")
    inner = Scope({name: UNSET for name, _ in pairs}, scope)
    for name, value_form in pairs:
        inner.values[name] = yield from machine.value(value_form, inner)
    return (yield from _inner_body(machine, form, Scope({}, inner)))


def _inner_body(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    defaults = machine.defaults
    try:
        return (yield from machine.body(form.items[2:], scope))
    finally:
        machine.defaults = defaults


def begin_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(begin X …)``: its value is that of the last X."""
    return (yield from machine.body(form.items[1:], scope))


def if_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(if TEST THEN [ELSE])``."""
    _count(machine, form, 2, 3, "(if TEST THEN ELSE)")
    test = yield from machine.value(form.items[1], scope)
    if test != FALSE:
        return (yield from machine.value(form.items[2], scope))
    if len(form.items) == 4:
        return (yield from machine.value(form.items[3], scope))
    return FALSE


def when_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(when TEST X …)`` and ``(unless TEST X …)``."""
    head = form.items[0]
    assert isinstance(head, Atom)
    _count(machine, form, 1, None, f"({head.value} TEST X ...)")
    test = yield from machine.value(form.items[1], scope)
    if (test != FALSE) == (head.value == "when"):
        return (yield from machine.body(form.items[2:], scope))
    return FALSE


def cond_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(cond (TEST X …) … (else X …))``."""
    for clause in form.items[1:]:
        if isinstance(clause, Atom):
            raise machine.error(clause.at, "a clause of cond is a list: a test and what follows from it")
        test_form = clause.items[0]
        test: object = TRUE
        if not (isinstance(test_form, Atom) and test_form.value == Symbol("else")):
            test = yield from machine.value(test_form, scope)
        if test != FALSE:
            if len(clause.items) == 1:
                return test
            return (yield from machine.body(clause.items[1:], scope))
    return FALSE


def case_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(case KEY ((VALUE …) X …) … (else X …))``: the clause that lists KEY."""
    _count(machine, form, 1, None, "(case KEY ((VALUE ...) X ...) ... (else X ...))")
    key = yield from machine.value(form.items[1], scope)
    for clause in form.items[2:]:
        if isinstance(clause, Atom):
            raise machine.error(clause.at, "a clause of case is a list: the values and what follows from them")
        values = datum(clause.items[0])
        if not (isinstance(values, Symbol) and values == "else"):
            if not isinstance(values, tuple):
                raise machine.error(clause.items[0].at, f"a clause of case begins with a list, not {show(values)}")
            machine.charge(len(values))
            if not any(equal(machine, key, value) for value in values):
                continue
        return (yield from machine.body(clause.items[1:], scope))
    return FALSE


def assert_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(assert TEST [X …])``: an error, with the values of X in its message, if TEST is nil."""
    _count(machine, form, 1, None, "(assert TEST MESSAGE ...)")
    test = yield from machine.value(form.items[1], scope)
    if test != FALSE:
        return FALSE
    words = []
    for item in form.items[2:]:
        value = yield from machine.value(item, scope)
        words.append(value if type(value) is str else show(value))
    said = bool(words)
    message = " ".join(words)[:300] if said else f"assertion does not hold: {show(datum(form.items[1]))}"
    raise machine.error(form.at, "".join(c if c.isprintable() else " " for c in message), own=said)


def and_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(and X …)``: the first that is nil, or the last."""
    value: object = TRUE
    for item in form.items[1:]:
        value = yield from machine.value(item, scope)
        if value == FALSE:
            break
    return value


def or_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """``(or X …)``: the first that is not nil."""
    value: object = FALSE
    for item in form.items[1:]:
        value = yield from machine.value(item, scope)
        if value != FALSE:
            break
    return value


def check_name(machine: Evaluator, form: Form, what: str) -> str:
    """A name that the text may define."""
    if isinstance(form, ListForm) or type(form.value) is not Symbol:
        shown = "a list" if isinstance(form, ListForm) else show(form.value)
        raise machine.error(form.at, f"the name of a {what} must be a symbol, not {shown}")
    name = str(form.value)
    if name in machine.forms or name == TRUE or name == "else":
        raise machine.error(
            form.at, f"'{name}' is a word of the language and cannot name {'an' if what == 'operator' else 'a'} {what}"
        )
    if name in NETWORK_VARIABLES or name in SETTABLE:
        raise machine.error(
            form.at, f"'{name}' is a predefined variable and cannot name {'an' if what == 'operator' else 'a'} {what}"
        )
    return name


def binding_pairs(machine: Evaluator, form: Form, what: str, *, again: bool = False) -> list[tuple[str, Form]]:
    """Names and value forms of ``((NAME VALUE) …)``; ``again`` allows a name to come again."""
    if isinstance(form, Atom):
        if form.value == FALSE:
            return []
        raise machine.error(form.at, f"{what} takes a list of (NAME VALUE) pairs, not {show(form.value)}")
    pairs: dict[str, Form] = {}
    result = []
    for item in form.items:
        if isinstance(item, Atom) or len(item.items) != 2:
            raise machine.error(item.at, f"{what} takes (NAME VALUE) pairs", hint=f"({what} ((n 4)) ...)")
        name = check_name(machine, item.items[0], "variable")
        if name in pairs and not again:
            raise machine.error(item.items[0].at, f"variable '{name}' occurs twice in this {what}")
        pairs[name] = item
        result.append((name, item.items[1]))
    return result


def set_network_variable(machine: Evaluator, name: str, value: object, at: int, value_at: int) -> None:
    """Set a variable of the network, such as its size; refused within a subset and after the first operator."""
    if name not in SETTABLE:
        raise machine.error(
            at,
            f"{name} follows from the network and the subset and cannot be set",
            hint="use (reset-mesh-size X Y Z) or (subset SUBSETS OP ...)",
        )
    check_settable(machine, name, at)
    settings = machine.settings
    if name == "*mode*":
        if not isinstance(value, Symbol) or value not in MODES:
            raise machine.error(value_at, f"*mode* must be one of {', '.join(MODES)}, not {show(value)}")
        settings.mode = str(value)
    elif type(value) is not int or not 1 <= value < 2**31:
        raise machine.error(value_at, f"{name} must be a positive integer, not {show(value)}")
    elif name == "*schedlen*":
        settings.schedlen = value
        settings.schedlen_set = True
    else:
        try:
            machine.network.refuse_without_coordinates(name)
        except Complaint as complaint:
            raise machine.error(at, complaint.message, hint=complaint.hint) from None
        size = list(machine.network.physical)
        size[AXES.index(name[1])] = value
        reset_network(machine, size, value_at)


def check_settable(machine: Evaluator, what: str, at: int) -> None:
    """Refuse to change the network under operators that are there already, or within a subset."""
    if not machine.context.whole:
        raise machine.error(at, f"{what} may not be used in a subset", hint="put it at the head of the program")
    if machine.made:
        raise machine.error(at, f"{what} must come before the first operator")


def reset_network(machine: Evaluator, size: list[int], at: int) -> None:
    """Put a mesh or torus of another size in the place of the network."""
    old = machine.settings.topology
    if old.kind not in ("mesh", "torus"):
        raise machine.error(at, f"the size of a {old.kind} cannot be set")
    needed = max((d + 1 for d, extent in enumerate(size) if extent != 1), default=1)
    kept = [*size, 1, 1][: max(needed, len(old.size))]
    if not old.regular and kept == list(old.size):
        return
    if not old.regular:
        raise machine.error(at, "the size of a network with faults cannot be set", hint=f"it is {old}")
    try:
        new: Topology = (mesh if old.kind == "mesh" else torus)(*kept)
    except PointsmanError as error:
        raise machine.error(at, error.message, hint=error.hint) from None
    machine.settings.topology = new
    machine.network = machine.context = SubsetContext(new)


def _closure(
    machine: Evaluator, name: str, parameters: tuple[Form, ...], body: tuple[Form, ...], scope: Scope
) -> Closure:
    return Closure(name, take_parameters(machine, parameters), body, scope)


def take_parameters(machine: Evaluator, forms: tuple[Form, ...]) -> Parameters:
    """Parameters of a function: names, ``&optional`` before those that may be left out, ``&rest`` before the last."""
    names: list[str] = []
    needed: int | None = None
    rest = False
    for number, form in enumerate(forms):
        word = form.value if isinstance(form, Atom) and isinstance(form.value, Symbol) else None
        if word == "&optional" and needed is None:
            needed = len(names)
            continue
        if word == "&rest":
            if number != len(forms) - 2:
                raise machine.error(form.at, "&rest must be followed by one last parameter")
            needed = len(names) if needed is None else needed
            rest = True
            continue
        if word is not None and word.startswith("&"):
            raise machine.error(form.at, f"'{show(word)}' is not allowed here", hint="known are &optional and &rest")
        parameter = check_name(machine, form, "parameter")
        if parameter in names:
            raise machine.error(form.at, f"parameter '{parameter}' occurs twice")
        names.append(parameter)
    return Parameters(tuple(names), len(names) if needed is None else needed, rest)


def _count(machine: Evaluator, form: ListForm, least: int, most: int | None, syntax: str) -> None:
    count = len(form.items) - 1
    if count < least or (most is not None and count > most):
        head = form.items[0]
        assert isinstance(head, Atom)
        raise machine.error(form.at, f"{head.value} is not written so", hint=syntax)


LISP_FORMS: Mapping[str, SpecialForm] = {
    "quote": quote_form,
    "quasiquote": quasiquote_form,
    "unquote": unquote_form,
    "unquote-splicing": unquote_form,
    "define": define_form,
    "set!": set_form,
    "setq": set_form,
    "lambda": lambda_form,
    "let": let_form,
    "let*": let_star_form,
    "letrec": letrec_form,
    "begin": begin_form,
    "progn": begin_form,
    "if": if_form,
    "when": when_form,
    "unless": when_form,
    "cond": cond_form,
    "case": case_form,
    "assert": assert_form,
    "and": and_form,
    "or": or_form,
}
