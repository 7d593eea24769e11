"""The target that ``--target`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.runtime import Application
    from pointsman.targets.target import Target


def target_named(name: str) -> Target[Any, Application]:
    """The target of this name. Its module is imported only when called, so that help and errors come at once."""
    if name == "logp":
        from .logp import LogpTarget

        return LogpTarget()
    if name == "optical":
        from .optical import OpticalTarget

        return OpticalTarget()
    if name == "packet":
        from .packet import PacketTarget

        return PacketTarget()
    if name == "tdm":
        from .tdm import SwitchTarget

        return SwitchTarget()
    from .numesh import NumeshTarget

    return NumeshTarget()
