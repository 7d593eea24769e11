"""Faults put into the packet router; each is found by the proof that it names."""

from __future__ import annotations

from cosim.formal.proof import Case, Mutant

_LINE = Case("line")
_FREE = Case("free")

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "credit-too-early",
        "input.py",
        "self.credit_valid.eq(self.take.any()),",
        "self.credit_valid.eq(caught),",
        "buffers.in_order",
        _LINE,
        "room is given back when a word is written, not when it is taken",
    ),
    Mutant(
        "last-word-forgotten",
        "input.py",
        "(some & ~(take & (count == 1))) | put",
        "(some & ~take) | put",
        "buffers.in_order",
        _LINE,
        "a buffer with two words looks empty when one is taken",
    ),
    Mutant(
        "channel-given-back-too-early",
        "output.py",
        "with m.Elif(less & ends):",
        "with m.Elif(less):",
        "channels.of_links",
        _LINE,
        "a channel is free after the first word of its message",
    ),
    Mutant(
        "channel-never-given-back",
        "output.py",
        "m.d.sync += holds[c].eq(0)",
        "m.d.sync += holds[c].eq(1)",
        "channels.of_addresses",
        _LINE,
        "an interface address stays with its first message",
    ),
    Mutant(
        "not-quite-empty",
        "output.py",
        "whole.eq(credits == self.depth - 1)]",
        "whole.eq(1)]",
        "channels.of_links",
        _FREE,
        "a channel with words behind it is taken for an empty one",
    ),
    Mutant(
        "always-the-lowest",
        "arbiter.py",
        "Mux(later.any(), first_later, _lowest(self.requests))",
        "_lowest(self.requests)",
        "turns.fair",
        _LINE,
        "the lowest request wins for ever",
    ),
    Mutant(
        "dropped-for-good",
        "interface.py",
        "self.get_credit_valid.eq(takes | owed),",
        "self.get_credit_valid.eq(takes),",
        "queues.dropped",
        _LINE,
        "the room of dropped words is lost",
    ),
    Mutant(
        "queue-read-when-empty",
        "interface.py",
        "takes.eq(self.take & Array(self.full)[self.take_address]),",
        "takes.eq(self.take),",
        "queues.in_order",
        _LINE,
        "a read of an empty queue moves its pointer",
    ),
    Mutant(
        "message-on-two-channels",
        "interface.py",
        "channel.eq(Mux(inside, lane, picked)),",
        "channel.eq(picked),",
        "queues.sends",
        _FREE,
        "words of a message follow whatever channel is empty",
    ),
)
