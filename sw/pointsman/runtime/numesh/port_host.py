"""Interface through which an operator's port sees its node on the mesh of scheduled routers."""

from __future__ import annotations

from typing import Protocol

from pointsman.artifacts.images.images import Images
from pointsman.runtime.api.substrate import CycleClock

from .online_agent import Agent
from .router import Router
from .use_order import UseOrder


class PortHost(Protocol):
    """A node: its images, its router, and the agent for online messages of the phase that runs."""

    images: Images
    number: int
    clock: CycleClock
    router: Router
    use_order: UseOrder

    @property
    def agent(self) -> Agent | None: ...

    def remark(self, text: str) -> None:
        """Say something in the report of the run, once."""

    async def leave(self, phase: int) -> None:
        """Make sure that no word of a phase is left in the router."""
