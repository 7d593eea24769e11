"""What TAM operations cost: Tables 6-3 and 6-4 of von Eicken 1993, and counts weighed by them.

Where the tables contradict each other or the print is broken both readings are here: a poll is 18 cycles in Table 6-3 and 9
in Table 6-4; the cost of sending N words to another processor of the CM-5 has lost its term a word, which is 4 for two words
(``pairs``, half of what receiving does, as the text says twice that of the hybrid) or 4 for each (``words``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pointsman.errors import PointsmanError

Machine = Literal["cm5", "hybrid"]
MACHINES: tuple[Machine, ...] = ("cm5", "hybrid")

SCHEDULING: Mapping[str, tuple[int, int]] = {
    "fork fall through": (0, 0),
    "fork branch unsynchronizing": (1, 1),
    "fork branch successful": (4, 4),
    "fork branch unsuccessful": (13, 13),
    "fork push unsynchronizing": (5, 5),
    "fork push successful": (10, 10),
    "fork push unsuccessful": (7, 7),
    "switch": (2, 2),
    "stop": (5, 5),
    "init": (4, 4),
    "poll": (18, 0),
    "post idle unsynchronizing": (19, 19),
    "post idle successful": (23, 24),
    "post idle unsuccessful": (7, 11),
    "post ready unsynchronizing": (14, 15),
    "post ready successful": (19, 20),
    "post ready unsuccessful": (7, 11),
    "post running unsynchronizing": (8, 31),
    "post running successful": (12, 31),
    "post running unsuccessful": (7, 27),
}
"""Table 6-3: cycles on the CM-5 and on the hybrid with the J-Machine. A switch costs this and its fork."""
POLL_6_4 = 9
FIXED: Mapping[str, tuple[int, int]] = {
    "ifetch remote": (93, 24),
    "ifetch local deferred": (16, 24),
    "ifetch local present": (4, 24),
    "istore remote": (60, 15),
    "istore local deferred": (4, 15),
    "istore local empty": (2, 15),
}
"""Table 6-4, accesses to I-structures. On the hybrid all messages cost the same."""


@dataclass(frozen=True)
class Costs:
    """A machine, and the readings of what is not certain.

    Parameters
    ----------
    machine : "cm5" or "hybrid"
    poll : "6-3" or "6-4"
        The table whose poll counts.
    send : "pairs" or "words"
        The lost term of sending on the CM-5.
    """

    machine: Machine = "cm5"
    poll: Literal["6-3", "6-4"] = "6-3"
    send: Literal["pairs", "words"] = "pairs"

    def of(self, event: str) -> int:
        """Cycles of an event: a key of the tables, or "send remote N", "receive local N" with N words; "alu" is 1."""
        column = MACHINES.index(self.machine)
        if event == "poll" and self.machine == "cm5" and self.poll == "6-4":
            return POLL_6_4
        for table in (SCHEDULING, FIXED):
            if event in table:
                return table[event][column]
        what, *rest = event.split()
        if what in ("send", "receive") and len(rest) == 2 and rest[1].isdigit():
            return self._message(what == "send", rest[0] == "local", int(rest[1]))
        if what == "alu":
            return 1
        raise PointsmanError(f"there is no cost of '{event}'")

    def _message(self, send: bool, local: bool, words: int) -> int:
        pairs = -(-words // 2)
        if self.machine == "hybrid":
            return 7 + words if send else 5 + 7 * pairs
        if local:
            return 4 + words if send else 4 + 4 * pairs
        if send:
            return 25 + 4 * (pairs if self.send == "pairs" else words)
        return 13 + 12 * pairs

    def total(self, counts: Counter[str]) -> int:
        """Cycles of all events that were counted."""
        return sum(self.of(event) * count for event, count in counts.items())


def category(event: str) -> str:
    """The category of an event: alu, messages, heap or control."""
    what = event.split()[0]
    if what in ("send", "receive"):
        return "messages"
    if what in ("ifetch", "istore"):
        return "heap"
    return "alu" if what == "alu" else "control"
