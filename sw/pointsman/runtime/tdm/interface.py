"""A processor's side of the switch: the working set that it has entered, and its rows of the configurations.

No node coordinates the others. A processor that loads an operator of another working set waits until its queued words are
sent, then replaces its own row of every configuration by commands to the scheduler (docs/tdm_target.md derives why this is
safe, and why no processor waits for ever).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.artifacts.tables import ConnectionTables
from pointsman.artifacts.tables.tables import TURN_REGISTER
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer, WaitEmpty, WaitUntil
from pointsman.runtime.api.substrate import CycleClock
from tdm_switch.codes import NOWHERE, Answer, Command, Predictor, Registers, decode_answer, encode, encode_predictor

OWN_ROWS = 1
"""Mode of LOAD and FLUSH that changes only the rows of the processor that gives the command."""
STEADY_COMMAND_CYCLES = 4
"""Cycles between two commands of a processor while no other processor sends commands."""
LEAVING_CYCLES = 64
"""Most cycles for which a row that is taken in turn waits for the words that still have to leave by it."""
DYNAMIC, GIVES_WAY = 1, 2
"""Modes of a slot: it takes dynamic connections; its idle preloaded connections may be replaced for a time."""


class Interface:
    """A processor's side of the switch: the working set that it has entered, and which of its rows are in the registers."""

    def __init__(self, tables: ConnectionTables, number: int, clock: CycleClock) -> None:
        self.tables = tables
        self.number = number
        self.clock = clock
        self.registers = Registers(tables.shape)
        self.current = -1
        """Working set that the processor has entered; -1: none."""
        self.rows: list[int | None] = [None] * tables.registers
        """Destination that stands in each register of the tables."""
        self.wanted: list[int | None] = [None] * tables.registers
        self.held: set[int] = set()
        self.refused = 0
        """Loads that were refused because another row still had the destination."""

    async def start(self) -> None:
        """After reset: processor 0 sets modes and time-out of the whole switch and loads all rows of the first working set.
        The other processors wait until that is done."""
        tables = self.tables
        words = [encode(Command.SLOT, x=slot, mode=DYNAMIC | GIVES_WAY) for slot in range(tables.registers)]
        if tables.timeout:
            words.append(encode_predictor(Predictor.TIMEOUT, tables.timeout))
        if tables.registers and tables.sets:
            for register, configuration in enumerate(tables.sets[0].configurations):
                words += [encode(Command.STAGE, x=u, y=v) for u, v in configuration]
                words += [encode(Command.LOAD, x=register)] * bool(configuration)
            self.rows = list(tables.sets[0].row(self.number))  # configurations in turn are loaded when they are wanted
            self.wanted = list(self.rows)
        if self.number == 0:
            await self.command(words, Category.ROUTER)
            await WaitEmpty(self.registers.command, Category.ROUTER)
        end = STEADY_COMMAND_CYCLES * (len(words) + 1)
        if self.clock.time > end:
            raise PointsmanError(f"the switch was not set up within {end} cycles", hint="is something else using it?")
        await WaitUntil(end, Category.ROUTER)

    async def command(self, words: Sequence[int], category: Category) -> None:
        """Send commands; they are carried out in order."""
        if words:
            data = np.array(words, np.uint32)
            await Transfer([Lane(True, self.registers.command, len(words), data)], category)

    async def enter(self, number: int, category: Category) -> None:
        """Go on to another working set."""
        if number == self.current:
            return
        chosen = self.tables.sets[number]
        self.wanted = list(chosen.row(self.number))
        if chosen.in_turn:
            stands = self.rows[TURN_REGISTER]
            if stands is not None and (self.number, stands) in chosen.taken_in_turn:
                self.wanted[TURN_REGISTER] = stands
        changes = self.wanted != self.rows
        held = {v for u, v in chosen.hold if u == self.number}
        if changes or held - self.held:
            # This node's queued words go out by the old rows; after that no word needs these rows. Nor do any need the slots that
            # held connections keep, beside which there is room for words of this set only (`working_sets.may_hold`).
            await WaitEmpty(self.registers.unsent, Category.PSYNC)
        words = []
        if chosen.flush and self.current >= 0:
            words.append(encode(Command.FLUSH, mode=OWN_ROWS))
            self.held.clear()
        words += [encode(Command.RELEASE, x=v) for v in sorted(self.held - held)]
        words += [encode(Command.HOLD, x=v) for v in sorted(held - self.held)]
        self.held = held
        self.current = number
        await self.command(words, category)
        if changes:
            await self.load_rows(category)

    @property
    def takes_turns(self) -> bool:
        """Do the configurations of the working set take turns in a register?"""
        return bool(self.tables.sets[self.current].in_turn)

    async def take_turn(self, to: int) -> None:
        """Before words go to ``to``: if the set's configurations take turns, load the row of the configuration with it.

        Words that still wait for the old destination are left to the scheduler after a while, because their receiver may
        wait for what this node sends next.
        """
        chosen = self.tables.sets[self.current]
        if not chosen.in_turn or self.wanted[TURN_REGISTER] == to or (self.number, to) not in chosen.taken_in_turn:
            return
        if self.rows[TURN_REGISTER] is not None:
            until = self.clock.time + LEAVING_CYCLES
            await Attend(until=until, empty=[self.registers.unsent], category=Category.PSYNC)
        self.wanted[TURN_REGISTER] = to
        await self.load_rows(Category.ROUTER)

    async def load_rows(self, category: Category) -> None:
        """Load this node's missing rows of the working set. A refused row is left to the scheduler until the next call."""
        exclusive = self.tables.sets[self.current].exclusive
        for register, (stands, wanted) in enumerate(zip(self.rows, self.wanted, strict=True)):
            if stands == wanted:
                continue
            words = [
                encode(Command.STAGE, x=self.number, y=NOWHERE if wanted is None else wanted),
                encode(Command.LOAD, x=register, mode=OWN_ROWS),
            ]
            if wanted is None or exclusive:
                await self.command(words, category)
                self.rows[register] = wanted
            elif await self._asked(words, category):
                self.rows[register] = wanted
            else:
                self.refused += 1
                if stands is not None:  # the old row must go in any case
                    await self.command([encode(Command.STAGE, x=self.number, y=NOWHERE), words[1]], category)
                    self.rows[register] = None

    async def _asked(self, words: Sequence[int], category: Category) -> bool:
        """Send commands and then a query; were all accepted? (A refused command answers CONFLICT before the query's VALUE.)"""
        await self.command([*words, encode(Command.DEGREE)], category)
        good = True
        while True:
            answer = np.zeros(1, np.uint32)
            await Transfer([Lane(False, self.registers.answer, 1, answer)], category)
            kind, _ = decode_answer(int(answer[0]))
            if kind == Answer.VALUE:
                return good
            if kind != Answer.CONFLICT:
                raise PointsmanError(
                    f"the switch refused a command of node {self.number}: {kind.name}",
                    hint="the tables do not fit this switch; check them with pointsman check",
                )
            good = False

    async def leave(self) -> None:
        """At the end of the program: release the connections that this node holds."""
        if self.held:
            await self.command([encode(Command.FLUSH, mode=OWN_ROWS)], Category.ROUTER)
            self.held.clear()

    async def ready(self) -> None:
        """Before a call: try again to load rows that were refused."""
        if self.rows != self.wanted:
            await self.load_rows(Category.ROUTER)
