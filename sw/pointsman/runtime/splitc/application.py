"""Split-C programs as applications: ``splitc_main`` on every node of every target."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.api.node import Node

from .accessors import Atomic
from .library import IN_MAIN, SplitC


class SplitCApplication(ActiveApplication):
    """An application whose nodes run Split-C. It has no COP file: its messages go from any node to any other.

    Attributes
    ----------
    memory_bytes : int
        Bytes of each processor's memory.
    atomics : mapping of str to function
        Atomic calls: ``(old value, operand)`` to ``(new value, answer)``.
    poll_local : bool
        Take a message with each access to the own memory through a pointer.
    interrupts : bool
        A processor's interrupt handler serves the requests of others, also while it computes. On ``numesh`` only; elsewhere a
        processor serves them when it communicates.
    """

    memory_bytes: int = 1 << 20
    atomics: Mapping[str, Atomic] = {}
    poll_local: bool = False
    interrupts: bool = False

    @abstractmethod
    async def splitc_main(self, splitc: SplitC) -> Any:
        """The program of a processor. Its result is handed to ``check``."""

    @final
    async def main(self, node: Node) -> Any:
        carrier = self.carrier(node)
        splitc = SplitC(
            node,
            carrier,
            memory_bytes=self.memory_bytes,
            atomics=self.atomics,
            poll_local=self.poll_local,
            interrupts=self.interrupts,
        )
        self.observe(node, splitc.endpoint)
        node.activity = "starting Split-C"
        await carrier.start()
        splitc.argv = await self._argv(splitc)
        node.activity = IN_MAIN
        made = self.splitc_main(splitc)
        if not inspect.isawaitable(made):
            raise PointsmanError(
                f"{type(self).__name__}.splitc_main must give a coroutine, not {type(made).__name__}",
                hint="async def splitc_main(self, s): ...",
            )
        result = await made
        node.activity = "ending Split-C"
        for counter in splitc.state.counters:
            await splitc.sync(counter)
        await splitc.all_stores_done()
        await carrier.finish()
        return result

    async def _argv(self, splitc: SplitC) -> list[str]:
        """The options, as processor 0 has them, down the tree."""
        words = [f"--{name}={value}" for name, value in vars(self.options_given).items()] if splitc.MYPROC == 0 else []
        text = "\0".join(words).encode()
        length = int((await splitc.broadcast(np.array([len(text)], np.int32)))[0])
        if not length:
            return []
        told = await splitc.broadcast(np.frombuffer(text.ljust(length, b"\0"), np.uint8))
        return told.tobytes().decode().split("\0")
