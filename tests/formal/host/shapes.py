"""Shapes that the bridge is proven for: small, and different in everything that the hardware does differently."""

from __future__ import annotations

from host.shape import HostShape

SHAPES = {
    "waits": HostShape(nodes=2, registers=3),
    "refuses": HostShape(nodes=2, registers=5, blocked="error"),
    "wide": HostShape(nodes=1, registers=1, width=64),
}
