"""Algorithms as JSON: what ``pointsman import msccl`` writes, and what `pointsman.runtime.algorithms` runs."""

from __future__ import annotations

import msgspec

from pointsman.errors import PointsmanError

from .algorithm import Action, Algorithm, Buffers, Message, check_algorithm, check_sizes


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    collective: str
    ranks: int
    inputs: int
    outputs: int
    scratch: int
    in_place: bool
    root: int
    messages: list[tuple[int, int, int]]
    actions: list[tuple[int, list[tuple[str, int]], tuple[str, int], int, str]]


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
        [(one.source, one.destination, one.count) for one in algorithm.messages],
        [(one.rank, list(one.operands), one.into, one.count, one.step) for one in algorithm.actions],
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
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(str(error) or "nested too deeply") from None
    buffers = Buffers(form.inputs, form.outputs, form.scratch, form.in_place)
    collective = check_sizes(form.collective, form.ranks, buffers)
    ranks, count = range(form.ranks), len(form.messages)
    if not all(s in ranks and d in ranks and s != d and n > 0 for s, d, n in form.messages) or form.root not in ranks:
        raise PointsmanError("messages must go from one rank to another, with chunks")
    sent = [0] * count
    for rank, operands, into, chunks, step in form.actions:
        places = [*operands, into]
        if rank not in ranks or not operands or not all(name in ("i", "o", "s", "m") for name, _ in places):
            raise PointsmanError(f"{step}: an action must have a rank, and places in i, o, s or m")
        for (name, at), end in zip(places, [1] * len(operands) + [0], strict=True):
            if name == "m" and not (0 <= at < count and form.messages[at][end] == rank):
                raise PointsmanError(f"{step}: message {at} does not {'end' if end else 'begin'} at rank {rank}")
            if name == "m" and form.messages[at][2] != chunks:
                raise PointsmanError(
                    f"{step}: message {at} has {form.messages[at][2]} chunks, and the action {chunks}: they must agree"
                )
        if into[0] == "m":
            sent[into[1]] += 1
    for at, times in enumerate(sent):
        if times != 1:
            raise PointsmanError(f"messages[{at}]: a message must be sent once, and {times} actions send it")
    algorithm = Algorithm(
        form.name,
        collective,
        form.ranks,
        buffers,
        tuple(Message(*one) for one in form.messages),
        tuple(Action(rank, tuple(operands), into, n, step) for rank, operands, into, n, step in form.actions),
        form.root,
    )
    check_algorithm(algorithm)
    return algorithm
