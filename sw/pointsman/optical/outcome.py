"""What became of the messages of a run, whichever way they went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .traffic import Traffic

NEVER = -1
"""In place of a slot: not in this run."""


@dataclass(frozen=True)
class Outcome:
    """Messages and their times; arrays of int64 with an entry for each message.

    Parameters
    ----------
    traffic : Traffic
    established : array
        Slot from which on the message has its connection; for packets that hop, when the first set out on its first path.
    started : array
        Slot in which its first packet is sent.
    done : array
        Slot before which its last packet has arrived. `NEVER` where the run ended before.
    slots : int
        Length of the run.
    counts : dict
        Whatever else was counted.
    timeline : dict
        Rows of channels or of packets (``timeline``).
    """

    traffic: Traffic
    established: np.ndarray
    started: np.ndarray
    done: np.ndarray
    slots: int
    retries: int = 0
    counts: dict[str, Any] = field(default_factory=dict)
    timeline: dict[str, Any] = field(default_factory=dict)

    @property
    def delivered(self) -> np.ndarray:
        """Which messages have arrived whole."""
        return self.done != NEVER

    @property
    def waits(self) -> np.ndarray:
        """Slots from ready to the first packet's being sent, of messages that were delivered (latency in Yuan 1998, §3.3)."""
        return (self.started - self.traffic.ready)[self.delivered]

    @property
    def delays(self) -> np.ndarray:
        """Slots from ready to the last packet's arrival, of messages that were delivered (message delay in §4.5)."""
        return (self.done - self.traffic.ready)[self.delivered]

    def of_class(self, chosen: slice) -> dict[str, Any]:
        """Messages of a class, those delivered, and their latency and delay."""
        done, ready = self.done[chosen], self.traffic.ready[chosen]
        there = done != NEVER
        return {
            "messages": len(done),
            "delivered": int(there.sum()),
            "latency": spread((self.started[chosen] - ready)[there]),
            "delay": spread((done - ready)[there]),
            "slots": int(done.max(initial=0)),
        }

    @property
    def throughput(self) -> float:
        """Messages delivered per slot."""
        return int(self.delivered.sum()) / self.slots if self.slots else 0.0

    def as_dict(self, *, latency_is_delay: bool = False) -> dict[str, Any]:
        """As in the JSON file of ``pointsman optical``."""
        made = (self.established - self.traffic.ready)[self.established != NEVER]
        columns = (
            self.traffic.ready,
            self.traffic.source,
            self.traffic.destination,
            self.traffic.slots,
            self.established,
            self.done,
        )
        messages = [
            [None if value == NEVER and place > 3 else value for place, value in enumerate(row)]
            for row in np.stack(columns, axis=1).tolist()
        ]
        return {
            "delivered": int(self.delivered.sum()),
            "slots": self.slots,
            "latency": spread(self.delays if latency_is_delay else self.waits),
            "delay": spread(self.delays),
            "throughput": round(self.throughput, 9),
            "set_up": round(float(made.mean()), 6) if len(made) else None,
            "retries": self.retries,
            **self.counts,
            **self.timeline,
            "messages": messages,
        }


def spread(values: np.ndarray) -> dict[str, float | None]:
    """Mean, median and 99th percentile (of the nearest rank); None without values."""
    if not len(values):
        return {"mean": None, "p50": None, "p99": None}
    ranked = np.sort(values)
    middle, high = (int(ranked[-(-len(ranked) * share // 100) - 1]) for share in (50, 99))
    return {"mean": round(float(values.mean()), 6), "p50": middle, "p99": high}
