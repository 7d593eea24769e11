"""`Program` to Python that makes an equal `Program`.

Like the text of `program_to_cop`, of which it is a translation: no variables, every subset spelt out.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from fractions import Fraction

from pointsman.cop.limits import DEFAULT_LIMITS, Limits
from pointsman.cop.text.reader import FALSE, QUOTE, TRUE, Atom, Form, Keyword, ListForm, Symbol, datum, read
from pointsman.cop.text.source import Source
from pointsman.cop.text.writer import program_to_cop
from pointsman.errors import PointsmanError
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Program

WIDTH = 110
DEEPEST = 80
"""Nesting of groups that Python's own parser certainly accepts."""
BOUNDLESS = Limits(text=2**62, forms=2**62, list_length=2**62)
"""Limits for reading back a text that was just printed."""


def program_to_python(program: Program, name: str = "program", *, limits: Limits = DEFAULT_LIMITS) -> str:
    """Python source with a function ``name`` that `compile_program` makes an equal program of.

    Raises
    ------
    CopLimitError
        If it would be longer than ``limits.output`` characters, about.
    PointsmanError
        If a parameter of the program has a name that cannot be a parameter of a function of Python, or groups are
        nested more deeply than Python reads.
    """
    if any(depth > DEEPEST for _, depth in program.root.walk()):
        raise PointsmanError(f"Python cannot read more than {DEEPEST} groups within each other")
    settings: list[str] = []
    parts: list[str] = []
    parameters = ["net: cop.Network"]
    for form in read(Source(program_to_cop(program, limits)), BOUNDLESS):
        assert isinstance(form, ListForm)
        head, *rest = form.items
        word = _value(head)
        if word == "reset-mesh-size":
            settings.append(f"net.reset_mesh_size({', '.join(str(_value(item)) for item in rest)})")
        elif word == "define":  # *mode* or *schedlen*
            settings.append(f"net.{str(_value(rest[0])).strip('*')} = {_shown(_value(rest[1]))}")
        elif word == "parameter":
            parameter, value = map(_value, rest)
            if not str(parameter).isidentifier() or keyword.iskeyword(str(parameter)) or parameter == "net":
                raise PointsmanError(f"'{parameter}' cannot be the name of a parameter in Python")
            parameters.append(f"{parameter}: int = {value}")
        else:
            parts += _part(form, 8)
    lines = [
        "from pointsman import cop",
        "",
        "",
        f"def {name}({', '.join(parameters)}) -> cop.Parts:",
        *("    " + line for line in settings),
        "    return [",
        *parts,
        "    ]",
    ]
    return "\n".join(lines) + "\n"


def _part(form: ListForm, indent: int) -> list[str]:
    """Lines of a call, with a comma at the end."""
    pad = " " * indent
    head = str(_value(form.items[0]))
    arguments = form.items[1:]
    if head in OPERATORS:
        return [f"{pad}{_call(head, arguments)},"]
    plain = {"loop": 2, "subset": 1}.get(head, 0)
    first = [_shown(_value(item)) for item in arguments[:plain]]
    if head == "subset":
        first = [_lists(_value(arguments[0]), indent + 4)]
    lines = [f"{pad}cop.{head}("]
    lines += [f"{pad}    {', '.join(first)},"] if first else []
    for item in arguments[plain:]:
        assert isinstance(item, ListForm)
        lines += _part(item, indent + 4)
    return [*lines, f"{pad}),"]


def _call(head: str, arguments: Sequence[Form]) -> str:
    words: list[str] = []
    names = [operand.name for operand in OPERATORS[head].operands]
    at = 0
    position = 0
    while at < len(arguments):
        item = arguments[at]
        at += 1
        if isinstance(item, Atom) and isinstance(item.value, Keyword):
            words.append(f"{item.value[1:]}={_argument(arguments[at])}")
            at += 1
        else:
            value = _argument(item)
            if head == "reduce" and position:
                # Left out, the function is not written at all, and the only operand is the destination.
                both = at < len(arguments) and not isinstance(getattr(arguments[at], "value", None), Keyword)
                name = names[0] if position == 1 and both else names[1]
                value = f"{name}={value}"
            words.append(value)
            position += 1
    return f"cop.{head}({', '.join(words)})"


def _argument(form: Form) -> str:
    if isinstance(form, ListForm) and _value(form.items[0]) == "runtime":
        pairs = list(zip(form.items[1::2], form.items[2::2], strict=True))
        return f"cop.runtime({', '.join(f'{str(_value(key))[1:]}={_argument(value)}' for key, value in pairs)})"
    value = _value(form)
    if value == TRUE:
        return "True"
    return "False" if value == FALSE else _shown(value)


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)  # names hold no quotation marks


def _value(form: Form) -> object:
    """A constant of the text as Python's; names of the language become strings."""
    if isinstance(form, ListForm) and isinstance(form.items[0], Atom) and form.items[0].value == QUOTE:
        form = form.items[1]
    value = datum(form)
    if isinstance(value, Symbol) and value in ("*min*",):
        return "min"
    if isinstance(value, Symbol | Keyword):
        return str(value)
    return float(value) if isinstance(value, Fraction) else value


def _lists(value: object, indent: int) -> str:
    assert isinstance(value, tuple)
    rows = [repr(list(row)) for row in value]
    if indent + sum(len(row) + 2 for row in rows) < WIDTH:
        return f"[{', '.join(rows)}]"
    pad = " " * (indent + 4)
    return "[\n" + "".join(f"{pad}{row},\n" for row in rows) + " " * indent + "]"
