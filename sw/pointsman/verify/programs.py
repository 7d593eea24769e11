"""Do images belong to a program: are its operators, loops, parameters and network theirs?

`check_images` proves that images do what their operators mean; this, that these are the operators of a text. Takes both; gives
sentences, none if they belong together. The order of groups is compared by `order`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from pointsman.artifacts.images.images import Images
from pointsman.program.program import Group, Instance, Operator, Program, Runtime

from .meaning.messages import values_of
from .meetings import meeting_differences
from .order import order_differences
from .structure.programs import any_value, sequences_of_parts

MOST = 12
"""Differences that are told."""


def program_differences(images: Images, program: Program) -> list[str]:
    """What is in one of the two and not in the other, as sentences."""
    found: list[str] = []
    if images.topology != program.topology:
        found.append(
            f"the images are for a {images.topology.described}, the program is for a {program.topology.described}"
        )
    if dict(images.parameters) != dict(program.parameters):
        found.append(
            f"the images have the parameters {dict(images.parameters)}, the program {dict(program.parameters)}"
        )
    loops = [part.label for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"]
    if sorted(label or "" for label in loops) != sorted(images.loops):
        found.append(f"the images have the loops {', '.join(images.loops)}, the program {', '.join(map(str, loops))}")
    wanted = {operator.label: _plain(operator) for operator in program.operators()}
    parts = {index for _, several in sequences_of_parts(images) for index in several}
    closing = {phase.barrier for phase in images.phases}
    there = {one.program.label: one.program for one in images.replaced}
    chosen: Counter[str] = Counter()
    for index, image in enumerate(images.operators):
        if image.program is not None and index not in parts | closing:
            there[image.program.label] = image.program
            chosen[image.program.label] += 1
    for label, operator in wanted.items():
        if label not in there:
            found.append(f"{operator_name(operator)} is not in the images")
        elif there[label] != operator and not _is_part(there[label], operator, alone=chosen[label] < 2):
            found.append(f"{operator_name(operator)} is another operator in the images")
    found += [f"operator '{label}' of the images is not in the program" for label in there if label not in wanted]
    if not found:
        found += order_differences(images, program)
    if not found:
        found += meeting_differences(images, program)
    return found[:MOST] + ([f"and {len(found) - MOST} more"] if len(found) > MOST else [])


def _is_part(part: Operator, operator: Operator, *, alone: bool) -> bool:
    """Is it the operator but for the run-time values, of which it has some? All of them if it is ``alone``."""
    return any_value(part) == any_value(operator) and (not alone or values_of(part) == values_of(operator))


def operator_name(operator: Operator) -> str:
    return f"operator '{operator.label}' ({operator.kind})"


def _plain(operator: Operator) -> Operator:
    """The operator without places in the text, which count for nothing."""
    return replace(operator, position=None, instances=tuple(map(_plain_instance, operator.instances)))


def _plain_instance(instance: Instance) -> Instance:
    operands = tuple(
        (name, replace(value, position=None) if isinstance(value, Runtime) else value)
        for name, value in instance.operands
    )
    return replace(instance, position=None, operands=operands)
