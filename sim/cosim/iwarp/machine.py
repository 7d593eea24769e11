"""Sizes and costs of a machine with logical channels; the defaults are those of iWarp."""

from __future__ import annotations

from dataclasses import dataclass, field

from pointsman.artifacts.channels.channels import ChannelCosts
from pointsman.errors import PointsmanError
from pointsman.network import Topology


@dataclass(frozen=True)
class ChannelMachine:
    """A torus, mesh or graph of cells.

    Parameters
    ----------
    channels : int
        Logical channels of a cell (20 on iWarp, §4.1.2).
    buffer : int
        Words that a logical channel holds at a cell. The paper has no number.
    pool_channels : int
        Channels that each link has in each of two pools for messages.
    envelope : int
        Words of a message's header and trailer (§4.3.1).
    costs : ChannelCosts
        Clocks of words, context switches and messages.
    """

    topology: Topology
    channels: int = 20
    buffer: int = 8
    pool_channels: int = 1
    envelope: int = 4
    costs: ChannelCosts = field(default_factory=ChannelCosts)

    def __post_init__(self) -> None:
        for name, least, most in (
            ("channels", 1, 1024),
            ("buffer", 1, 1024),
            ("pool_channels", 1, 64),
            ("envelope", 1, 64),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise PointsmanError(f"{name} of a machine must be {least} to {most}, not {value}")
        if self.topology.nodes > 1024:
            raise PointsmanError(f"a machine must have at most 1024 cells, not {self.topology.nodes}")
