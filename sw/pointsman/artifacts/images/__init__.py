"""The images of a compiled program, their file, and the contents of memories."""

from pointsman.artifacts.container import ImageError

from .file import images_from_bytes, images_to_bytes, read_images, write_images
from .images import (
    Images,
    LaneImage,
    NodeImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    PhaseImage,
    Promise,
    Rewrite,
    Role,
)
from .readmemh import memories_of, write_readmemh

__all__ = [
    "ImageError",
    "Images",
    "LaneImage",
    "NodeImage",
    "NodeOperator",
    "NodePhase",
    "OperatorImage",
    "PhaseImage",
    "Promise",
    "Rewrite",
    "Role",
    "images_from_bytes",
    "images_to_bytes",
    "memories_of",
    "read_images",
    "write_images",
    "write_readmemh",
]
