"""Faults put into the switch; each is found by the proof that it names."""

from __future__ import annotations

from cosim.formal.proof import Case, Mutant

_PAIR = Case("pair")
_THREE = Case("three")
_UNITS = Case("units")
_SLOW = Case("slow")

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "printed-table-2",
        "cell.py",
        "(realised & output & input_) | (~realised & ~output & ~input_)",
        "(output & input_) | (~output & ~input_)",
        "matrices.legal",
        _PAIR,
        "a cell without B(s) takes two busy ports for a connection to release, as Table 2 is printed",
    ),
    Mutant(
        "array-forgets-an-input",
        "array.py",
        "input_.eq(after)",
        "input_.eq(self.d)",
        "cells.greedy",
        _THREE,
        "an input port is given to two outputs in one decision",
    ),
    Mutant(
        "turned-the-wrong-way",
        "array.py",
        "by = (-(1 << i) if back else 1 << i) % n",
        "by = (1 << i) % n",
        "cells.rotation",
        _THREE,
        "toggles are not turned back",
    ),
    Mutant(
        "diagonals-out-of-step",
        "pipelined_array.py",
        "outputs[v], inputs[u] = a, d",
        "outputs[v], inputs[u] = a, input_",
        "cells.pipelined",
        _PAIR,
        "a row of the pipelined array is not cut",
    ),
    Mutant(
        "released-though-requested",
        "prescheduling.py",
        "release = (~self.wanted & ~self.preloaded)",
        "release = ~self.preloaded",
        "cells.table_1",
        _PAIR,
        "every realised connection is released",
    ),
    Mutant(
        "established-twice",
        "prescheduling.py",
        "(~self.realised | further)",
        "(~self.current | further)",
        "changes.tables",
        _PAIR,
        "a connection gets a second slot",
    ),
    Mutant(
        "preempted-for-good",
        "prescheduling.py",
        "| (self.preloaded & ~gives_way)\n",
        "\n",
        "changes.returns",
        _PAIR,
        "a preloaded connection that was replaced does not come back",
    ),
    Mutant(
        "stale-decision",
        "scheduler.py",
        "lost = lost | spoilt",
        "pass",
        "matrices.legal",
        _SLOW,
        "a decision that a command has overtaken is applied",
    ),
    Mutant(
        "conflict-is-loaded",
        "slots.py",
        "self.conflict.eq((columns & columns_any(stays, n)).any())",
        "self.conflict.eq(0)",
        "matrices.legal",
        _PAIR,
        "rows are preloaded whose destinations other rows have",
    ),
    Mutant(
        "staged-twice",
        "commands.py",
        "(self.named & x_port).any() | (columns_any(self.staged, n) & y_port).any()",
        "(self.named & x_port).any()",
        "matrices.legal",
        _PAIR,
        "a destination is staged for two sources",
    ),
    Mutant(
        "strangers-may-stage",
        "commands.py",
        "stranger = self.owner.any() & ~(self.owner & turn).any()",
        "stranger = Const(0, 1)",
        "commands.staging",
        _PAIR,
        "two processors make one configuration",
    ),
    Mutant(
        "refused-and-done",
        "commands.py",
        """                        with m.Elif(self.conflict):
                            m.d.comb += refusal.eq(Answer.CONFLICT)
                        with m.Else():""",
        """                        with m.Elif(self.conflict):
                            m.d.comb += [refusal.eq(Answer.CONFLICT), self.write.eq(1)]
                        with m.Else():""",
        "commands.preloaded",
        _PAIR,
        "a refused configuration is loaded all the same",
    ),
    Mutant(
        "grants-follow-the-register",
        "counters.py",
        "self.grant.eq(Mux(tick >= shape.guard_cycles, copy, 0))",
        'self.grant.eq(Mux(tick >= shape.guard_cycles, chosen(self.now, [getattr(self, f"b_{s}") '
        "for s in range(shape.slots)]), 0))",
        "grants.of_the_slot",
        _PAIR,
        "B(t) reaches the fabric in the middle of its slot",
    ),
    Mutant(
        "no-guard-band",
        "counters.py",
        "Mux(tick >= shape.guard_cycles, copy, 0)",
        "copy",
        "grants.of_the_slot",
        _PAIR,
        "words are sent while the fabric changes",
    ),
    Mutant(
        "empty-slots-are-not-skipped",
        "counters.py",
        "later.eq(self.active & above(place)),",
        "later.eq(above(place)),",
        "grants.of_the_slot",
        _PAIR,
        "an empty slot has its time",
    ),
    Mutant(
        "nobody-is-kept-for",
        "priority.py",
        "self.allowed.eq(top | ~kept)",
        "self.allowed.eq(-1)",
        "changes.served",
        Case("fair_three"),
        "others take the ports for which a request waits",
        cycles=28,
    ),
    Mutant(
        "latch-outlives-its-time",
        "requests.py",
        "(older >= self.threshold)",
        "(older > self.threshold)",
        "commands.latches",
        _PAIR,
        "the time-out is a cycle late",
    ),
    Mutant(
        "units-share-a-request",
        "scheduler.py",
        "Cat(number == (unit - u - v) % units for u in range(n) for v in range(n))",
        "Const(-1, n * n)",
        "changes.tables",
        _UNITS,
        "two units establish one connection in two slots",
    ),
)
