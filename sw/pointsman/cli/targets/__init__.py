"""The kinds of hardware behind ``--target``, a module a target: its options, and its side of ``compile`` and ``run``.

Each module has one class that fulfils `pointsman.targets.target.Target`; the commands know that protocol and `target_named`
only. ``reference`` is what runs with ``--dry``, without any hardware. Start with ``numesh``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.runtime import Application
    from pointsman.targets.target import Target

TARGETS = ("numesh", "tdm", "packet")


def target_named(name: str) -> Target[Any, Application]:
    """The target of this name. Its module is imported only now, so that help and errors come at once."""
    if name == "packet":
        from .packet import PacketTarget

        return PacketTarget()
    if name == "tdm":
        from .tdm import SwitchTarget

        return SwitchTarget()
    from .numesh import NumeshTarget

    return NumeshTarget()
