"""COP text to `Program`.

Takes text, a network and the host's parameters; gives the text's meaning on that network. No implementation is chosen and
no route is made here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypedDict, Unpack

from pointsman.cop.library.library import LIBRARY
from pointsman.errors import PointsmanError
from pointsman.files import read_bytes
from pointsman.network import Topology, mesh
from pointsman.program.program import Program

from .evaluation.compound import COMPOUND_FORMS
from .evaluation.constructs import CONSTRUCTS
from .evaluation.evaluator import Evaluator, Settings, SpecialForm
from .evaluation.finish import finish
from .evaluation.forms import LISP_FORMS, MODES
from .evaluation.values import Scope
from .limits import DEFAULT_LIMITS, Limits
from .text.reader import Form, as_library, read
from .text.source import CopError, CopLimitError, Places, Source, suggestion, together

FORMS = {**LISP_FORMS, **CONSTRUCTS, **COMPOUND_FORMS}
"""Words of the language."""
PRELUDE = Path(__file__).parent / "evaluation" / "prelude.cop"
"""Text of the compound operators that are predefined in every program."""


class Host(TypedDict, total=False):
    """Arguments that a program's host (the command line, or a caller from Python) may give.

    Parameters
    ----------
    parameters : mapping of str to int or None
        Values for the program's ``(parameter NAME DEFAULT)``.
    limits : Limits
        Bounds on the text's work and memory.
    mode : str
        ``*mode*`` unless the text sets it: "numesh" (the default), "dyn" or "tdm".
    schedlen : int or None
        ``*schedlen*`` unless the text sets it; None: it is not defined.
    """

    parameters: Mapping[str, int] | None
    limits: Limits
    mode: str
    schedlen: int | None


@cache
def prelude() -> tuple[Source, Scope]:
    """The text of the prelude, and the scope of the library with the prelude's definitions.

    All programs share this scope, because it never changes: a program that redefines such a name does so in its own scope.
    """
    source = Source(PRELUDE.read_text(encoding="utf-8"), PRELUDE.name)
    machine = Evaluator(
        source,
        settings=Settings(mesh(1), "numesh", None),
        limits=DEFAULT_LIMITS,
        forms=FORMS,
        library=Scope(dict(LIBRARY), None),
        host_parameters={},
    )
    machine.run(machine.operators(as_library(read(source)), machine.library))
    machine.raise_errors()
    return source, machine.library


def compile_text(
    text: str,
    *,
    file: str = "<cop>",
    topology: Topology,
    **host: Unpack[Host],
) -> Program:
    """Evaluate a COP text on a network.

    Parameters
    ----------
    text : str
        The program. If its first line is ``;/*``, it is the head of a C file and ends at the first ``*/``.
    file : str
        Its name in messages.
    topology : Topology
        The network, unless the text sets its size.
    host
        What the host may give to any program: see `Host`.

    Raises
    ------
    CopError
        With every fault that was found in the text.
    PointsmanError
        If an argument other than the text is wrong.
    """
    source = Source(text, file)
    forms = read(source, host.get("limits", DEFAULT_LIMITS))
    return evaluate_forms(source, forms, topology=topology, **host)


def evaluate_forms(
    source: Places,
    forms: Sequence[Form],
    *,
    topology: Topology,
    special: Mapping[str, SpecialForm] = FORMS,
    **host: Unpack[Host],
) -> Program:
    """Evaluate forms, wherever they come from; ``special`` are the words of the language."""
    limits, mode, schedlen = host.get("limits", DEFAULT_LIMITS), host.get("mode", "numesh"), host.get("schedlen")
    values = _check_arguments(host.get("parameters") or {}, limits, mode, schedlen)
    library_source, library = prelude()
    machine = Evaluator(
        source,
        settings=Settings(topology, mode, schedlen),
        limits=limits,
        forms=special,
        library=library,
        host_parameters=values,
        library_source=library_source,
    )
    try:
        parts = machine.run(machine.operators(forms, machine.globals))
        for name in values:
            if name not in machine.parameters:
                machine.record(_unknown_parameter(machine, name))
        assert isinstance(parts, list)
        return finish(machine, parts)
    except CopLimitError as limit:
        if machine.errors:  # these may be why the limit was exceeded
            raise together([*machine.errors.values(), limit]) from None
        raise


def compile_file(
    path: str | os.PathLike[str],
    *,
    topology: Topology,
    **host: Unpack[Host],
) -> Program:
    """Evaluate a COP file, as `compile_text` does.

    Raises
    ------
    CopError
        Also if the file is not UTF-8.
    PointsmanError
        If it cannot be read.
    """
    text, name = read_file(path, host.get("limits", DEFAULT_LIMITS))
    return compile_text(text, file=name, topology=topology, **host)


def read_file(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> tuple[str, str]:
    """The text of a COP file, and the file's name in messages.

    Raises
    ------
    CopError
        If the file is not UTF-8.
    PointsmanError
        If it cannot be read.
    """
    name = os.fspath(path)
    try:
        content = read_bytes(name, most=4 * limits.text + 1)  # a character has up to four bytes
    except PointsmanError as error:
        if os.path.basename(name).lstrip()[:1] not in ("(", ";"):
            raise
        raise PointsmanError(
            error.message,
            hint="that is the text of a program: put it into a file, and give its name; in Python, "
            "pointsman.cop.compile_text takes it",
        ) from None
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = Source(content[: error.start].decode() + "?", name)
        if len(content) > 4 * limits.text:
            raise before.limit(0, "text", limits.text, "the file is too long") from None
        raise before.error(len(before.text) - 1, "the file is not UTF-8 here") from None
    return text, name


def _check_arguments(parameters: Mapping[str, int], limits: Limits, mode: str, schedlen: int | None) -> dict[str, int]:
    if mode not in MODES:
        raise PointsmanError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    if schedlen is not None and (type(schedlen) is not int or schedlen < 1):
        raise PointsmanError(f"schedule length must be a positive integer, not {schedlen!r}")
    for name, value in parameters.items():
        if type(value) is not int:
            raise PointsmanError(f"parameter {name} must be an integer, not {value!r}")
        if value.bit_length() > limits.number_bits:
            raise PointsmanError(f"parameter {name} must have at most {limits.number_bits} bits")
    return dict(parameters)


def _unknown_parameter(machine: Evaluator, name: str) -> CopError:
    known = sorted(machine.parameters)
    listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    hint = f"the program has {listed}" if known else "the program has no parameters"
    if close := suggestion(name, known):
        hint = f"{close} {hint}"
    shown = "".join(c if c.isprintable() else "?" for c in name[:60])
    return CopError(f"unknown parameter '{shown}'", position=machine.source.position(0), hint=hint)
