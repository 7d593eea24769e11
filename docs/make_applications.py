"""Writes the tables of docs/applications.md: functions of the operators, values of load functions, types, built-in functions.

python docs/make_applications.py

Everything but `RESULTS` comes from `pointsman.program.catalogue`, `pointsman.cop.evaluation.options` and
`pointsman.runtime.api.combine`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pointsman.cop.evaluation.options import TYPES
from pointsman.program.catalogue import OPERATORS, Operand, OperatorSpec
from pointsman.runtime.api.combine import KNOWN

PAGE = Path(__file__).with_name("applications.md")
RESULTS = {
    "reduce": "at the destination all messages combined, elsewhere `None`",
    "allreduce": "all messages combined",
    "prefix": "the messages of all nodes up to this one combined",
    "barrier": "`None`, once all have called it; it takes no message",
    "cshift": "the message of the node that is the distance before",
    "eoshift": "the same; zeros where none comes in over the edge",
    "permute": "the message of the node whose entry is this node",
}
"""What LABEL_func of each functional operator gives."""
GIVEN = {
    "node": "number of a node in its subset",
    "distance": "a number",
    "permutation": "a list of nodes, each once",
    "function": "a function that combines messages",
}
"""What a load function takes for each sort of operand."""


def _who(who: str) -> str:
    if who == "all":
        return "all"
    return f"all but the {who[1:]}" if who.startswith("-") else f"the {who}"


def _load(spec: OperatorSpec) -> str:
    values = [operand.name for operand in spec.operands if operand.runtime]
    return ", ".join(values) or "–"


def operators() -> list[str]:
    """A row for each operator: its functions, who calls them, and what they give."""
    rows = ["| in COP | `LABEL_load` may take | functions | called by | gives |", "|---|---|---|---|---|"]
    for spec in OPERATORS.values():
        if spec.flow == "functional":
            said = [
                ("`LABEL_func(message)`" if spec.kind != "barrier" else "`LABEL_func()`", "all", RESULTS[spec.kind])
            ]
        else:
            said = [
                ("`LABEL_write(message)`", _who(spec.writers), "`None`, once the last word is in the router"),
                ("`LABEL_read()`", _who(spec.readers), "a message"),
            ]
        for number, (function, who, gives) in enumerate(said):
            form = f"`{spec.syntax}`" if number == 0 else ""
            rows.append(f"| {form} | {_load(spec) if number == 0 else ''} | {function} | {who} | {gives} |")
    return rows


def values() -> list[str]:
    """A row for each operand that may be a run-time value."""
    rows = ["| operand | of | `(runtime)` | `:distributed` or `:dynamic` |", "|---|---|---|---|"]
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for spec in OPERATORS.values():
        for operand in spec.operands:
            if operand.runtime:
                found.setdefault((operand.name, operand.sort, operand.runtime), []).append(spec.kind)
    for (name, sort, runtime), kinds in found.items():
        rows.append(f"| {name} | {', '.join(kinds)} | {GIVEN[sort]} | {_partial(Operand(name, sort, runtime))} |")
    return rows


def _partial(operand: Operand) -> str:
    if operand.runtime == ("plain",):
        return "–"
    if operand.sort == "permutation":
        return "the node to which this node sends; a whole list will do"
    return "`True` if it is this node, its number if this node knows it, else `None`"


def types() -> list[str]:
    """A row for each type of a message."""
    rows = ["| `:type` | a message is | words of 32 bits |", "|---|---|---|"]
    for name, kind in TYPES.items():
        item = np.dtype(name.rstrip("*"))
        what = (
            f"an array of `numpy.{item}`"
            if name.endswith("*")
            else f"a number: {'`int`' if item.kind == 'i' else '`float`'}"
        )
        rows.append(
            f"| `{name}` | {what} | {'`:m`, ' if kind.array else ''}{item.itemsize // 4}{' an item' if kind.array else ''} |"
        )
    return rows


def functions() -> list[str]:
    """A row for each built-in function."""
    rows = ["| name | `numpy` |", "|---|---|"]
    return rows + [f"| `{name}` | `{function.__name__}` |" for name, function in KNOWN.items()]


BLOCKS = {one.__name__: one for one in (operators, values, types, functions)}


def page(text: str) -> str:
    """The page with its tables made anew."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        made = "\n".join([begin, *make(), end])
        text, count = re.subn(f"{begin}.*?{end}", lambda _, made=made: made, text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"the page must have the lines {begin} and {end} once")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
