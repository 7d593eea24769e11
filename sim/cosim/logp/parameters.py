"""The figures of a LogP machine.

Those of the CM-5 follow from the costs of active messages in von Eicken 1993, Table 6-1 (column "Active Messages", in tenths of a
microsecond): a one-way message costs its sender 1.6 us; a round trip costs the asker 3.1 us, so receiving costs 1.5; it
arrives after 5.6 us, of which 2.5 are neither sending nor receiving. A packet of 16 bytes every 1.6 us makes 10 Mbyte/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from pointsman.errors import PointsmanError


@dataclass(frozen=True)
class LogpParameters:
    """Times in units of the machine (``unit`` says which).

    Parameters
    ----------
    latency : int
        L: from the end of sending to where receiving may begin.
    send, receive : int
        o: what a message costs the processor that sends, and that receives it.
    gap : int
        g: between the beginnings of two sends of a processor, and of two receptions.
    capacity : int
        Messages of a kind (requests, replies) that may be under way to a processor; a sender waits. 0: L/g, rounded up.
    packet : int
        Bytes of data that a message holds; one with more is sent and received as several. 0: any number.
    poll : int
        Looking for a message where there is none.
    in_order : bool
        Messages of a pair of processors keep their order.
    delay : int
        Most units that a message may be late; how many is drawn for each.
    seed : int
        Of those draws.
    unit : str
        What a unit is.
    """

    latency: int = 6
    send: int = 2
    receive: int = 2
    gap: int = 4
    capacity: int = 0
    packet: int = 0
    poll: int = 1
    in_order: bool = True
    delay: int = 0
    seed: int = 0
    unit: str = "cycle"

    def __post_init__(self) -> None:
        for name in ("latency", "send", "receive", "gap", "capacity", "packet", "delay", "seed"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 0:
                raise PointsmanError(
                    f"{name} of a LogP machine must be a whole number, 0 or more, not {getattr(self, name)!r}"
                )
        if self.poll < 1:
            raise PointsmanError(f"poll of a LogP machine must be 1 or more, not {self.poll}")

    def packets(self, size: int) -> int:
        """Packets of a message with ``size`` bytes of data."""
        return max(1, -(-size // self.packet)) if self.packet else 1

    @property
    def room(self) -> int:
        """Messages of a kind under way to a processor at most."""
        return self.capacity or max(1, -(-self.latency // max(1, self.gap)))

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


CALIBRATIONS: Mapping[str, LogpParameters] = {
    "example": LogpParameters(),
    "cm5": LogpParameters(latency=25, send=16, receive=15, gap=16, packet=16, poll=7, in_order=False, unit="0.1 us"),
}
"""Machines by name. ``cm5``: see above; the network may change the order of messages (von Eicken 1993, §6.1.2)."""


def logp_named(text: str) -> LogpParameters:
    """Parameters from text: a name of `CALIBRATIONS`, and changes: ``cm5,latency=50,delay=20``.

    Raises
    ------
    PointsmanError
        If there is no such machine or figure.
    """
    parameters, kinds = CALIBRATIONS["example"], {one.name: one.type for one in fields(LogpParameters)}
    for place, word in enumerate(text.split(",")):
        name, equals, value = word.strip().partition("=")
        if not equals and not place and name in CALIBRATIONS:
            parameters = CALIBRATIONS[name]
        elif equals and name in kinds and kinds[name] == "int" and value.isdigit():
            parameters = replace(parameters, **{name: int(value)})  # type: ignore[arg-type]  # one of the whole numbers
        elif equals and name == "in_order" and value in ("true", "false"):
            parameters = replace(parameters, in_order=value == "true")
        else:
            raise PointsmanError(
                f"a LogP machine cannot be {text!r}: {word.strip()!r}",
                hint=f"one of {', '.join(CALIBRATIONS)}, then changes such as latency=50 or in_order=false",
            )
    return parameters
