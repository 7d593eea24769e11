"""Elements that a program is certain to use and that its arrays do not have: found before anything is derived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .affine import Affine, Range, Scope
from .mapping import Array
from .statements import Assign, Branch, DoLoop, Reference, Statement, reads


def outside(body: Sequence[Statement], arrays: Mapping[str, Array]) -> Iterator[tuple[Reference, int, int]]:
    """References that leave their arrays: with the dimension and a subscript, beyond its bounds, that is surely computed.

    Only what every run computes is told: no branches, no masks, and ranges that have the same values, at least one, in
    every iteration around them.
    """
    yield from _outside(body, arrays, ())


def _outside(
    body: Sequence[Statement], arrays: Mapping[str, Array], around: tuple[Range, ...]
) -> Iterator[tuple[Reference, int, int]]:
    for statement in body:
        if isinstance(statement, DoLoop):
            if _sure(statement.range):
                yield from _outside(statement.body, arrays, (*around, statement.range))
        elif isinstance(statement, Branch):
            for one in reads(statement):
                yield from _leaves(one, arrays, around)
        elif isinstance(statement, Assign) and statement.mask is None and all(map(_sure, statement.indices)):
            for one in (statement.target, *reads(statement)):
                yield from _leaves(one, arrays, (*around, *statement.indices))


def _sure(one: Range) -> bool:
    return bool(one.count) and one.low.known is not None


def _leaves(
    one: Reference, arrays: Mapping[str, Array], around: tuple[Range, ...]
) -> Iterator[tuple[Reference, int, int]]:
    scope = Scope(around)
    for dimension, (subscript, (low, high)) in enumerate(zip(one.subscripts, arrays[one.array].bounds, strict=True)):
        if isinstance(subscript, Affine):
            least, most = scope.least(subscript), scope.most(subscript)
            for value in (least, most):
                if value is not None and not low <= value <= high:
                    yield one, dimension, value
                    break
