"""Faults put into the bridges; each is found by the proof that it names."""

from __future__ import annotations

from cosim.formal.proof import Case, Mutant

_WAITS, _REFUSES = Case("waits"), Case("refuses")

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "writes-when-full",
        "core.py",
        "w_can.eq(self.write & w_register & w_free),",
        "w_can.eq(self.write & w_register),",
        "core.one_access",
        _WAITS,
        "a word goes to a full register, and is lost",
    ),
    Mutant(
        "two-at-once",
        "core.py",
        "r_goes.eq(r_can & ~w_goes),",
        "r_goes.eq(r_can),",
        "core.one_access",
        _WAITS,
        "a read and a write share the address of a port",
    ),
    Mutant(
        "reads-twice",
        "core.py",
        "r_can.eq(self.read & r_register & r_there & ~reading),",
        "r_can.eq(self.read & r_register & r_there),",
        "core.reads_once",
        _WAITS,
        "a second word is taken and given to nobody",
    ),
    Mutant(
        "ends-unwritten",
        "core.py",
        "self.write_ended.eq(w_goes | w_own | w_refused),",
        "self.write_ended.eq(w_can | w_own | w_refused),",
        "core.writes_once",
        _WAITS,
        "a write ends in the turn of a read, without its word having gone",
    ),
    Mutant(
        "refuses-twice",
        "core.py",
        "self.read_failed.eq(~reading & (r_strange | r_refused)),",
        "self.read_failed.eq(r_strange | (self.read & r_register & ~r_there if gives_up else 0)),",
        "core.reads_once",
        _REFUSES,
        "a word has been taken, and the read fails because there is no other",
    ),
    Mutant(
        "always-write-first",
        "core.py",
        "w_goes.eq(w_can & ~(r_can & wrote_last)),",
        "w_goes.eq(w_can),",
        "core.in_turn",
        _WAITS,
        "reads wait as long as there are writes",
    ),
    Mutant(
        "address-without-data",
        "axi_lite.py",
        "self.s_axil_wready.eq(taken),",
        "self.s_axil_wready.eq(~self.writing),",
        "axi.one_answer",
        _WAITS,
        "a word is taken whose address was not",
    ),
    Mutant(
        "answer-of-another",
        "axi_lite.py",
        "self.s_axil_arready.eq(~self.reading & ~self.given),",
        "self.s_axil_arready.eq(~self.reading),",
        "axi.answers_stay",
        _WAITS,
        "a second read changes the answer that waits",
    ),
)
