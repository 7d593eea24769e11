"""The mesh with a player at every node, again and again, and what lights up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from player import Player
from tape import Tape

from numesh.interface import processor_members
from numesh.memories import NodeMemories
from numesh.mesh import Mesh
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.errors import PointsmanError

RESET = "reset_of_node_"
"""Name of the register that resets a node and its player, before the node's number."""
SLACK_CYCLES = 16
"""How much longer than on the tapes a round may take before it counts as failed."""


class Demonstration(wiring.Component):
    """Rounds of the program: reset, play all tapes, judge. A round that fails stops the rounds.

    Parameters
    ----------
    images : Images
        The compiled program.
    tapes : sequence of Tape
        One for each node.
    memories : sequence of NodeMemories, optional
        Contents of the routers' memories at power-up; those of the images if left out.
    blink_bits : int
        Bit of a counter of cycles that the first light shows, and of the rounds that the last ones show.

    Ports
    -----
    spoil : Signal(1), in
        Node 0 writes wrong words.
    again : Signal(1), in
        Forget a failure and start again.
    restart : Signal(1), in
        Stay in reset, from the next cycle on, and forget everything.
    lights : Signal(8), out
        Bit 0 blinks: the clock runs. 1: at least one round was right, and none wrong. 2: a round failed, because, 3, a
        word was wrong or, 4, a node ended in another cycle than the model foretold. 5 to 7 count rounds.
    passed, failed : Signal(1), out
        Bits 1 and 2 of the lights.
    """

    def __init__(
        self,
        images: Images,
        tapes: Sequence[Tape],
        memories: Sequence[NodeMemories] | None = None,
        *,
        blink_bits: int = 26,
    ) -> None:
        inputs = {"spoil": In(1), "again": In(1), "restart": In(1)}
        super().__init__(inputs | {"lights": Out(8), "passed": Out(1), "failed": Out(1)})
        self.shape = images.shape
        self.blink_bits = blink_bits
        links = [(link.node, link.port, link.other, link.other_port) for link in images.topology.links]
        self.mesh = Mesh(
            shape=images.shape, nodes=images.topology.nodes, links=links, memories=memories or memories_of(images)
        )
        # Each node has a register of its own for its reset, which need not lead across the chip.
        self.resets = [Signal(init=1, name=f"{RESET}{node}") for node in range(images.topology.nodes)]
        self.mesh.nodes = [ResetInserter(reset)(node) for reset, node in zip(self.resets, self.mesh.nodes, strict=True)]
        self.budget = max(tape.finish for tape in tapes) + SLACK_CYCLES
        self.reset_cycles = max(images.shape.reset_cycles, Player.REWIND)
        self.round_cycles = self.reset_cycles + self.budget + 5
        bits = self.budget.bit_length()
        self.players = [Player(shape=images.shape, tape=tape, time_bits=bits) for tape in tapes]
        self.time = Signal(bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # What restarts the rounds does not lead to mesh and players, but through the registers of their resets.
        m.submodules.rounds = ResetInserter(self.restart)(self._control())
        m.submodules.mesh = self.mesh
        for node, (player, reset) in enumerate(zip(self.players, self.resets, strict=True)):
            m.submodules[f"player_{node}"] = ResetInserter(reset)(player)
            m.d.comb += player.time.eq(self.time)
            for name, member in processor_members(self.shape).items():
                outside, inside = getattr(self.mesh, f"{name}_{node}"), getattr(player, name)
                m.d.comb += inside.eq(outside) if member.flow == Out else outside.eq(inside)
        m.d.sync += self.players[0].spoil.eq(self.spoil)
        return m

    def _control(self) -> Module:
        """What resets and judges."""
        m = Module()
        hold = Signal(init=1)
        m.d.sync += [*(reset.eq(hold) for reset in self.resets), self.time.eq(self.time + 1)]
        with m.If(self.resets[0]):
            m.d.sync += self.time.eq(0)

        over, ended, wrong, unpunctual = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            over.eq(self.time == self.budget),
            ended.eq(Cat(player.done for player in self.players).all()),
            wrong.eq(Cat(player.wrong for player in self.players).any()),
            unpunctual.eq(Cat(player.unpunctual for player in self.players).any()),
        ]
        rounds = Signal(max(8, self.blink_bits))
        cycles = self.reset_cycles
        wait = Signal(range(cycles), init=cycles - 1)
        why = Signal(2)
        with m.FSM():
            with m.State("reset"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.sync += hold.eq(0)
                    m.next = "play"
            with m.State("play"), m.If(over):
                m.next = "judge"
            with m.State("judge"):
                m.d.sync += [hold.eq(1), wait.eq(cycles - 1)]
                with m.If(ended & ~wrong & ~unpunctual):
                    m.d.sync += [self.passed.eq(1), rounds.eq(rounds + 1)]
                    m.next = "reset"
                with m.Else():
                    m.d.sync += [self.passed.eq(0), self.failed.eq(1), why.eq(Cat(wrong, unpunctual | ~ended))]
                    m.next = "stop"
            with m.State("stop"):
                with m.If(self.again):
                    m.d.sync += [self.failed.eq(0), why.eq(0), rounds.eq(0)]
                    m.next = "reset"

        beat = Signal(self.blink_bits)
        m.d.sync += beat.eq(beat + 1)
        shown = rounds[min(15, len(rounds) - 3) :][:3]
        m.d.comb += self.lights.eq(Cat(beat[-1], self.passed, self.failed, why, shown))
        return m


def simulate(demonstration: Demonstration) -> None:
    """A round of what goes into the bitstream, in Amaranth's simulator.

    Raises
    ------
    PointsmanError
        If it is wrong.
    """
    simulator = Simulator(demonstration)
    simulator.add_clock(1e-8)
    lights = 0

    async def bench(context: Any) -> None:
        nonlocal lights
        await context.tick().repeat(demonstration.round_cycles)
        lights = int(context.get(demonstration.lights))

    simulator.add_testbench(bench)
    simulator.run()
    if not lights & 0b10:
        reasons = ["a word was wrong"] * (lights >> 3 & 1) + ["a node ended in another cycle than foretold"] * (
            lights >> 4 & 1
        )
        raise PointsmanError(f"the simulation fails: {' and '.join(reasons)}")
