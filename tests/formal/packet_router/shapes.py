"""Shapes that the packet router is proven for: small, and different in everything that the hardware does differently."""

from __future__ import annotations

from packet_router.shape import RouterShape

_SMALL = {"buffer": 2, "queue": 2, "addresses": 2}

SHAPES = {
    "line": RouterShape(size=(3,), **_SMALL),
    "plane": RouterShape(size=(3, 2), **_SMALL | {"buffer": 4, "addresses": 4}),
    "ring": RouterShape(size=(3,), torus=True, **_SMALL | {"queue": 4}),
    "free": RouterShape(size=(2, 2), routing="adaptive", channels=3, **_SMALL | {"buffer": 4, "addresses": 4}),
}
