"""What stations add to the switch: a request that gets nowhere in a window is withdrawn for two (``tdm_switch.station``)."""

from __future__ import annotations

from collections.abc import Mapping

from tdm_switch.shape import SwitchShape

from .scheduler_model import Connections
from .switch_model import SwitchModel


class StationsModel(SwitchModel):
    """`SwitchModel` whose interfaces have patience."""

    def __init__(self, shape: SwitchShape, window: int) -> None:
        self.window = window
        super().__init__(shape)

    def reset(self) -> None:
        super().reset()
        self.cycle = 0
        self.granted: Connections = set()
        """With words waiting, in this window."""
        self.served: Connections = set()
        self.first: Connections = set()
        self.second: Connections = set()

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.withdrawn = self.first | self.second
        self.granted |= {(u, v) for u, v in self.scheduler.grant if self.nics[u].queues[v]}
        super().clock(inputs)
        if inputs.get("rst"):
            return
        self.served |= self.moved
        self.cycle += 1
        if self.cycle % self.window == 0:
            stuck = self.granted - self.served - self.withdrawn
            self.first, self.second = stuck, self.first - self.moved
            self.granted, self.served = set(), set()
        else:
            self.first -= self.moved
            self.second -= self.moved
