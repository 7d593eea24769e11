"""Plan -> Images for the mesh of scheduled routers.

``allocation`` gives every phase a block of the schedule memory, and every VFSM and interface register its number; ``roles`` tells
what a node does in an operator, ``nodes`` what it holds, ``promises`` where words go, and ``images`` puts all together. A program
that does not fit is refused; what is not in the routers' memories is loaded by the run time.
"""

from __future__ import annotations

from pointsman.targets.errors import FitError

from .images import make_images

__all__ = ["FitError", "make_images"]
