"""Model of the stations: a request that moves no word in a window is withdrawn for two windows (``tdm_switch.station``)."""

from __future__ import annotations

from collections.abc import Mapping

from tdm_switch.shape import SwitchShape

from .scheduler_model import Connections
from .switch_model import NicModel, SwitchModel


class StationsModel:
    """Stations around ``switch``: they see on which connections it moves words, and tell it which requests are withdrawn."""

    def __init__(self, shape: SwitchShape, window: int) -> None:
        self.switch = SwitchModel(shape)
        self.window = window
        self._begin()

    @property
    def nics(self) -> list[NicModel]:
        return self.switch.nics

    def _begin(self) -> None:
        self.cycle = 0
        self.granted: Connections = set()
        """With words waiting, in this window."""
        self.served: Connections = set()
        self.first: Connections = set()
        self.second: Connections = set()

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        return self.switch.outputs(inputs)

    def clock(self, inputs: Mapping[str, int]) -> None:
        switch = self.switch
        switch.withdrawn = self.first | self.second
        self.granted |= {(u, v) for u, v in switch.scheduler.grant if switch.nics[u].queues[v]}
        switch.clock(inputs)
        if inputs.get("rst"):
            self._begin()
            return
        self.served |= switch.moved
        self.cycle += 1
        if self.cycle % self.window == 0:
            stuck = self.granted - self.served - switch.withdrawn
            self.first, self.second = stuck, self.first - switch.moved
            self.granted, self.served = set(), set()
        else:
            self.first -= switch.moved
            self.second -= switch.moved
