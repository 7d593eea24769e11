"""Plan -> Images for the mesh of scheduled routers.

``allocation`` gives every phase a block of the schedule memory, and every VFSM and interface register its number; ``roles`` makes
a node's lanes and rewrites in an operator, ``nodes`` its phases, ``promises`` the destinations of words; ``images`` puts all
together. A program that does not fit is refused; phases that are not in the routers' memories are loaded by the run time.
"""

from __future__ import annotations

from .images import make_images

__all__ = ["make_images"]
