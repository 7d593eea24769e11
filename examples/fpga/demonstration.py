"""The mesh with a player at every node, again and again, and what lights up."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from player import Player
from tape import Tape

from numesh.interface import processor_members
from numesh.memories import NodeMemories
from numesh.mesh import Mesh
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of

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
        super().__init__({"spoil": In(1), "again": In(1), "lights": Out(8), "passed": Out(1), "failed": Out(1)})
        self.shape = images.shape
        self.blink_bits = blink_bits
        links = [(link.node, link.port, link.other, link.other_port) for link in images.topology.links]
        self.mesh = Mesh(
            shape=images.shape, nodes=images.topology.nodes, links=links, memories=memories or memories_of(images)
        )
        self.budget = max(tape.finish for tape in tapes) + SLACK_CYCLES
        self.reset_cycles = max(images.shape.reset_cycles, Player.REWIND)
        self.round_cycles = self.reset_cycles + self.budget + 5
        bits = self.budget.bit_length()
        self.players = [Player(shape=images.shape, tape=tape, time_bits=bits) for tape in tapes]
        self.time = Signal(bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        hold, reset = Signal(init=1), Signal(init=1)
        m.submodules.mesh = ResetInserter(reset)(self.mesh)
        m.d.sync += [reset.eq(hold), self.time.eq(self.time + 1)]
        with m.If(reset):
            m.d.sync += self.time.eq(0)
        for node, player in enumerate(self.players):
            m.submodules[f"player_{node}"] = ResetInserter(reset)(player)
            m.d.comb += player.time.eq(self.time)
            for name, member in processor_members(self.shape).items():
                outside, inside = getattr(self.mesh, f"{name}_{node}"), getattr(player, name)
                m.d.comb += inside.eq(outside) if member.flow == Out else outside.eq(inside)
        m.d.sync += self.players[0].spoil.eq(self.spoil)

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
