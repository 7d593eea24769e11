"""Algorithms as JSON: what ``pointsman import msccl`` writes, and what `pointsman.runtime.algorithms` runs."""

from __future__ import annotations

import msgspec

from pointsman.errors import PointsmanError

from .algorithm import Action, Algorithm, Buffers, Message, check_algorithm, check_sizes


class _Form(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    collective: str
    ranks: int
    inputs: int
    outputs: int
    scratch: int
    in_place: bool
    root: int
    messages: tuple[Message, ...]
    actions: tuple[Action, ...]
    distance: int = 1


def algorithm_bytes(algorithm: Algorithm) -> bytes:
    """The file of an algorithm: buffers, messages as [source, destination, chunks], and actions in order as [rank, operands,
    into, chunks, step]."""
    buffers = algorithm.buffers
    form = _Form(
        algorithm.name,
        algorithm.collective,
        algorithm.ranks,
        buffers.inputs,
        buffers.outputs,
        buffers.scratch,
        buffers.in_place,
        algorithm.root,
        algorithm.messages,
        algorithm.actions,
        algorithm.distance,
    )
    return msgspec.json.encode(form) + b"\n"


def algorithm_from(data: bytes | str) -> Algorithm:
    """The algorithm of a file, checked by what its chunks are made of.

    Raises
    ------
    PointsmanError
        If it is wrong.
    """
    try:
        form = msgspec.json.decode(data, type=_Form)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PointsmanError(str(error) or "nested too deeply") from None
    buffers = Buffers(form.inputs, form.outputs, form.scratch, form.in_place)
    collective = check_sizes(form.collective, form.ranks, buffers)
    ranks, count = range(form.ranks), len(form.messages)
    if form.root not in ranks or not all(
        one.source in ranks and one.destination in ranks and one.source != one.destination and one.count > 0
        for one in form.messages
    ):
        raise PointsmanError("messages must go from one rank to another, with chunks")
    if not 1 <= form.distance < max(2, form.ranks):
        raise PointsmanError(f"distance must be 1 to {max(1, form.ranks - 1)}, not {form.distance}")
    sent = [0] * count
    for action in form.actions:
        rank, step = action.rank, action.step
        places = [*action.operands, action.into]
        if rank not in ranks or len(places) < 2 or not all(name in ("i", "o", "s", "m") for name, _ in places):
            raise PointsmanError(f"{step}: an action must have a rank, and places in i, o, s or m")
        if action.count < 1:
            raise PointsmanError(f"{step}: an action must have a chunk or more, not {action.count}")
        for number, (name, at) in enumerate(places, 1):
            if name != "m":
                continue
            message, begins = form.messages[at] if 0 <= at < count else None, number == len(places)
            if message is None or rank != (message.source if begins else message.destination):
                raise PointsmanError(f"{step}: message {at} does not {'begin' if begins else 'end'} at rank {rank}")
            if message.count != action.count:
                raise PointsmanError(
                    f"{step}: message {at} has {message.count} chunks, and the action {action.count}: they must agree"
                )
        if action.into[0] == "m":
            sent[action.into[1]] += 1
    for at, times in enumerate(sent):
        if times != 1:
            raise PointsmanError(f"messages[{at}]: a message must be sent once, and {times} actions send it")
    algorithm = Algorithm(
        form.name, collective, form.ranks, buffers, form.messages, form.actions, form.root, form.distance
    )
    check_algorithm(algorithm)
    return algorithm
