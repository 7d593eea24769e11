"""Images: what a compiled program puts into every router and what each node's processor does, with their file.

Start with ``images``. ``file`` is the image file (docs/image_format.md), ``readmemh`` the contents of memories for Verilog.
"""

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
