"""Shapes that are proven: the standard one, the smallest, and some that are odd where a size may be odd."""

from __future__ import annotations

from numesh.shape import NodeShape

SHAPES = {
    "smallest": NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1),
    "single": NodeShape(pipelines=1, vfsms=4, schedule_depth=4, neighbours=2, registers=2, width=24),
    "odd": NodeShape(pipelines=2, vfsms=4, schedule_depth=8, neighbours=3, registers=5, width=3),
    "three": NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=7, registers=3, width=8),
    "standard": NodeShape(),
}
