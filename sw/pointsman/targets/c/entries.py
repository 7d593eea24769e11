"""Which operators of the images the functions of a program stand for, and which of them C cannot do yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.artifacts.images.images import Images, OperatorImage
from pointsman.errors import PointsmanError
from pointsman.program.catalogue import OPERATORS

from .text import identifier

HEADERS = ("pm", "pm_port", "pm_sizes")
"""Headers of the driver, without ``.h``."""
STANDARD_HEADERS = (
    *(
        "assert",
        "complex",
        "ctype",
        "errno",
        "fenv",
        "float",
        "inttypes",
        "iso646",
        "limits",
        "locale",
        "math",
        "setjmp",
    ),
    *(
        "signal",
        "stdarg",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "tgmath",
        "time",
        "wchar",
        "wctype",
    ),
)
"""Headers of C99, without ``.h``: a program's own would be found in their place, also by each other."""
RESERVED = ("pm", "pm_next")
"""Labels whose load functions would be the driver's own ``pm_load`` and ``pm_next_load``."""


class NotInCError(PointsmanError):
    """A legal program that needs what the driver in C does not do."""


@dataclass(frozen=True)
class Entry:
    """An operator of the program: its functions, and the operators of the images that do it."""

    label: str
    name: str
    """Its label as a C identifier."""
    operators: tuple[int, ...]
    """Several where each value has a schedule of its own."""
    group: int
    """Of entries whose values choose a phase together, from 1 on; 0: there is nothing to choose."""


def entries_of(images: Images) -> list[Entry]:
    """The operators of a program, in its order.

    Raises
    ------
    NotInCError
        If one of them needs what the driver does not do.
    """
    inner = {index for phase in images.phases for index in (phase.barrier, phase.online)}
    found: dict[str, list[int]] = {}
    for index, operator in enumerate(images.operators):
        if index not in inner or operator.online is not None:
            _refuse(operator)
        if index not in inner:
            found.setdefault(operator.label, []).append(index)
    if images.replaced:
        one = images.replaced[0]
        raise _refused(one.source, one.program.label, f"is done by several operators ({one.implementation})")
    groups: dict[frozenset[int], int] = {}
    entries = []
    for label, indices in found.items():
        group = 0
        if len(indices) > 1:
            phases = frozenset(images.operators[index].phase for index in indices)
            group = groups.setdefault(phases, len(groups) + 1)
        entries.append(Entry(label, identifier(label), tuple(indices), group))
    _check_names(images, entries)
    return entries


def functions_of(operator: OperatorImage) -> tuple[str, ...]:
    """Suffixes of the functions of an operator, but for load."""
    return tuple(name for name in OPERATORS[operator.kind].functions if name != "load")


def operands_of(operator: OperatorImage) -> list[tuple[str, str]]:
    """Name and sort of its run-time operands, in the order of the load function."""
    sorts = {operand.name: operand.sort for operand in OPERATORS[operator.kind].operands}
    return [(name, sorts[name]) for name in operator.runtime]


def _refuse(operator: OperatorImage) -> None:
    if operator.online is not None or operator.implementation == "online":
        raise _refused(operator.source, operator.label, "is done by messages that processors pass on")
    if operator.instances:
        raise _refused(operator.source, operator.label, "is scheduled at run time")


def _refused(source: str, label: str, why: str) -> NotInCError:
    return NotInCError(
        f"{source}: operator '{label}' {why}; the driver in C cannot do that",
        hint="name another implementation with :impl, or give its operands in the program",
    )


def _check_names(images: Images, entries: Sequence[Entry]) -> None:
    """Refuse a program whose header, or a label one of whose functions, would be the driver's own."""
    header = identifier(images.name)
    # Where file names have no case, Pm.h is pm.h; and its guard is the same anywhere.
    for taken, owner in ((HEADERS, "the driver in C"), (STANDARD_HEADERS, "C itself")):
        if header.lower() in taken:
            raise NotInCError(
                f"the header of program {images.name} would be {header}.h, which {owner} has already",
                hint="give the program's file another name",
            )
    for label in (*(entry.label for entry in entries), *images.loops):
        if label in RESERVED:
            raise NotInCError(f"label '{label}': {label}_load is a function of the driver in C", hint="rename it")
