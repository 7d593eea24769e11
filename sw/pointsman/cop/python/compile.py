"""A Python program to `Program`.

Takes the parts that a user's function gives for a network; gives the same Program as the corresponding text. Leaves all
checks to the evaluator. The function runs with all rights of Python: it is the user's own code, while a text may come from
anybody.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Unpack

from pointsman.cop.compile import FORMS, Host, evaluate_forms
from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.values import Scope, Task
from pointsman.cop.text.reader import Atom, Form, ListForm, Symbol
from pointsman.errors import PointsmanError
from pointsman.network import Topology, from_networkx
from pointsman.program.program import Position, Program

from .calls import CALL, Body, Part, Parts, flatten, forms_of, refuse
from .network import Network
from .places import PythonSource, place_of_caller, place_of_code

if TYPE_CHECKING:
    import networkx


def compile_program(
    program: Body | Parts,
    *,
    topology: Topology | networkx.Graph,
    **host: Unpack[Host],
) -> Program:
    """Evaluate a program that is made by Python on a network.

    Parameters
    ----------
    program : function, or parts
        A function of a `Network` that returns parts. Its further parameters are parameters of the program: they need
        integers as defaults, for which the host may give other values. Parts may also be given as they are.
    topology : Topology or networkx.Graph
        The network, unless the program sets its size. Nodes of a graph are numbered as `from_networkx` says.
    host
        As for `compile_text`.

    Raises
    ------
    CopError
        With every fault that was found; places are lines of Python.
    PointsmanError
        If another argument is wrong.
    """
    network = topology if isinstance(topology, Topology) else from_networkx(topology)
    body, place = _body(program)
    source = PythonSource(place.file)
    at = source.number(place)
    names = _parameters(program, place) if not isinstance(program, Part) and callable(program) else {}
    forms: list[Form] = [
        ListForm((Atom(Symbol("parameter"), at), Atom(Symbol(name), at), Atom(default, at)), at)
        for name, default in names.items()
    ]

    def with_parameters(machine: Evaluator) -> Body:
        if not all(name in machine.parameters for name in names):
            return lambda net: None  # a part was refused, which is recorded
        return lambda net: body(net, **{name: machine.parameters[name] for name in names})

    def first_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
        return (yield from _call(machine, with_parameters(machine), form, scope))

    first = Symbol("python program")
    forms.append(ListForm((Atom(first, at),), at))
    return evaluate_forms(
        source,
        forms,
        topology=network,
        special={**FORMS, CALL: _call_form, first: first_form},
        **host,
    )


def _call_form(machine: Evaluator, form: ListForm, scope: Scope) -> Task:
    """Evaluate a Python function among the parts of a group: call it with the network, or subset, around the group."""
    function = form.items[1]
    assert isinstance(function, Atom)
    assert isinstance(machine.source, PythonSource)
    _refuse_other_arguments(function.value, machine.source.position(form.at))
    return (yield from _call(machine, function.value, form, scope))


def _refuse_other_arguments(function: Any, place: Position) -> None:
    """Refuse a function among the parts that does not take the network alone, such as one that was to be called."""
    try:
        inspect.signature(function).bind(None)
    except ValueError:
        return  # one of Python's own that does not tell
    except TypeError:
        name = getattr(function, "__name__", "it")
        refuse(
            place,
            f"a function among the parts is called with the network alone, which {name} does not take",
            f"give the parts that it makes: {name}(…)",
        )


def _call(machine: Evaluator, function: Any, form: ListForm, scope: Scope) -> Task:
    source = machine.source
    assert isinstance(source, PythonSource)
    place = source.position(form.at)
    parts = flatten(function(Network(machine)), place)
    machine.charge(len(parts))
    return tuple((yield from machine.operators(forms_of(parts, source, place), Scope({}, scope))))


def _body(program: Body | Parts) -> tuple[Any, Position]:
    """Function that gives the program's parts, and the program's place."""
    if isinstance(program, Part):
        return (lambda net: program), program.place
    if callable(program):
        code = getattr(inspect.unwrap(program), "__code__", None)
        return program, place_of_caller() if code is None else place_of_code(code)
    place = place_of_caller()
    parts = flatten(program, place)
    return (lambda net: parts), place


def _parameters(program: Any, place: Position) -> dict[str, int]:
    """Parameters of a function after its first, with their defaults."""
    try:
        signature = list(inspect.signature(program).parameters.values())
    except (TypeError, ValueError):
        raise PointsmanError(f"cannot tell the parameters of {program!r}", hint="give a function") from None
    if not signature or signature[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    ):
        refuse(place, "a program must take the network as its first argument", "def program(net): ...")
    found: dict[str, int] = {}
    for entry in signature[1:]:
        if entry.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if type(entry.default) is not int or entry.kind is inspect.Parameter.POSITIONAL_ONLY:
            refuse(
                place,
                f"parameter {entry.name} of the program needs an integer as its default",
                f"def {getattr(program, '__name__', 'program')}(net, {entry.name}: int = 1): ...",
            )
        found[entry.name] = entry.default
    return found
