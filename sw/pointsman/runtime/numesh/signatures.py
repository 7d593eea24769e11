"""What applications see of the operators in images."""

from __future__ import annotations

from pointsman.artifacts.images.images import OperatorImage
from pointsman.runtime.api.claims import told_in
from pointsman.runtime.api.substrate import Signature

from .online_port import online_signature


def signature_of(operator: OperatorImage) -> Signature:
    """Signature that applications see of an operator in images."""
    if operator.online is not None:
        assert operator.program is not None
        return online_signature(operator, operator.program)
    if operator.remote or operator.partial:
        return Signature(
            operator.label,
            operator.kind,
            operator.type,
            operator.m,
            operator.runtime,
            source=operator.source,
            ranges=tuple(zip(*operator.values, strict=True)),
            partial=operator.runtime,
            told_in=() if operator.program is None else told_in(operator.program),
        )
    return Signature(
        operator.label,
        operator.kind,
        operator.type,
        operator.m,
        operator.runtime,
        operator.values,
        operator.function,
        operator.source,
        told_in=() if operator.program is None else told_in(operator.program),
    )
