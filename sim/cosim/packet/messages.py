"""Random messages through a packet network, and a check of their delivery: each once, whole, and in order where promised.

`Messages` drives the open sides of all stations (`packet_router.node.Station`) and checks the messages that they deliver,
independent of how messages travel. Test benches of any simulator can use it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from random import Random

from packet_router.header import pack_header, source_of
from packet_router.shape import RouterShape


@dataclass
class Message:
    """A message in the network. ``words``: its header, then its other words."""

    source: int
    destination: int
    address: int
    any_way: bool
    number: int
    words: list[int]


@dataclass
class Sending:
    """Messages that a node has to send, and the index of the next word."""

    queue: deque[Message]
    at: int = 0


@dataclass
class Reading:
    """A message that is being read at an interface address."""

    words: list[int] = field(default_factory=list)
    message: Message | None = None


class WrongMessageError(AssertionError):
    """The network broke its promise of delivery or order."""


class Messages:
    """Messages between random nodes, with random stalls on both sides.

    Parameters
    ----------
    shape : RouterShape
    random : Random
    count : int
        Messages of each node.
    longest : int
        Words of the longest.
    patience : float
        Least probability with which a node sends, and takes, a word in a cycle; redrawn from time to time, up to 1.

    Attributes
    ----------
    seen : dict of str to int
        Number of times that each event of interest occurred.
    """

    def __init__(
        self, shape: RouterShape, random: Random, *, count: int = 20, longest: int = 24, patience: float = 0.2
    ) -> None:
        self.shape = shape
        self.random = random
        self.patience = patience
        self.seen: dict[str, int] = dict.fromkeys(
            ("to itself", "header alone", "longer than a buffer", "sender refused", "queue full", "overtaken"), 0
        )
        self.sending = [Sending(deque()) for _ in range(shape.nodes)]
        self.underway: dict[tuple[int, int, int], list[Message]] = defaultdict(list)
        """By source, destination and address, in the order of sending."""
        self.reading: dict[tuple[int, int], Reading] = defaultdict(Reading)
        self.taking: list[int | None] = [None] * shape.nodes
        """Address whose word comes in the next cycle."""
        self.rates = [(1.0, 1.0)] * shape.nodes
        self.left = 0
        for node in range(shape.nodes):
            for number in range(count):
                self._add(node, number, longest)

    def _add(self, node: int, number: int, longest: int) -> None:
        random, shape = self.random, self.shape
        destination = random.randrange(shape.nodes)
        address = random.randrange(1, shape.addresses)
        any_way = shape.routing == "adaptive" and random.random() < 0.7
        length = random.choice((1, 2, 3, shape.buffer, shape.buffer + 1, random.randint(1, longest)))
        if any_way:
            length = max(2, length)  # its first word tells such a message from others
        header = pack_header(shape, destination, address, source=node, any_way=any_way, tag=number % 8)
        body = [node << 20 | number << 8 | word & 0xFF for word in range(1, length)]
        self.sending[node].queue.append(Message(node, destination, address, any_way, number, [header, *body]))
        self.left += length
        self.seen["to itself"] += node == destination
        self.seen["header alone"] += length == 1
        self.seen["longer than a buffer"] += length > shape.buffer

    @property
    def finished(self) -> bool:
        """Everything has been read."""
        return self.left == 0

    def drive(self, node: int, send_ready: bool, full: int) -> dict[str, int]:
        """Inputs of a station in this cycle, from the outputs that it has now."""
        random = self.random
        if random.random() < 0.02:
            self.rates[node] = (random.uniform(self.patience, 1), random.uniform(self.patience, 1))
        sends, takes = self.rates[node]
        values = {"send": 0, "send_last": 0, "send_data": 0, "take": 0, "take_address": 0}
        sending = self.sending[node]
        if sending.queue and random.random() < sends:
            message = sending.queue[0]
            last = sending.at == len(message.words) - 1
            values |= {"send": 1, "send_last": int(last), "send_data": message.words[sending.at]}
            if not send_ready:
                self.seen["sender refused"] += 1  # and the word must not be taken
            else:
                if sending.at == 0:
                    self.underway[node, message.destination, message.address].append(message)
                sending.at += 1
                if last:
                    sending.queue.popleft()
                    sending.at = 0
        if full and random.random() < takes:
            there = [address for address in range(self.shape.addresses) if full >> address & 1]
            values |= {"take": 1, "take_address": random.choice(there)}
        elif full:
            self.seen["queue full"] += 1
        self.taking[node] = values["take_address"] if values["take"] else None
        return values

    def check(self, node: int, take_data: int) -> None:
        """Check the word that the previous cycle's ``take`` has brought.

        Raises
        ------
        WrongMessageError
            If it is not the next word of a message that is due here.
        """
        address = self.taking[node]
        if address is None:
            return
        self.left -= 1
        reading = self.reading[node, address]
        reading.words.append(take_data)
        if reading.message is None:
            if len(reading.words) == 1:
                self._header(node, address, take_data, reading)
            else:
                self._first_word(node, address, take_data, reading)
        if reading.message is None:
            return
        expected = reading.message.words[len(reading.words) - 1]
        if take_data != expected:
            raise WrongMessageError(
                f"node {node}, address {address}: word {take_data:#x} came in place of {expected:#x}"
            )
        if len(reading.words) == len(reading.message.words):
            self.reading[node, address] = Reading()

    def _header(self, node: int, address: int, header: int, reading: Reading) -> None:
        source = source_of(header)
        due = self.underway[source, node, address]
        if header not in [message.words[0] for message in due]:
            raise WrongMessageError(f"node {node}, address {address}: no message with header {header:#x} is due")
        ordered = [message for message in due if not message.any_way]
        if ordered and ordered[0].words[0] == header:
            reading.message = ordered[0]
            due.remove(ordered[0])
        elif not any(message.any_way and message.words[0] == header for message in due):
            raise WrongMessageError(f"node {node}, address {address}: messages of node {source} came out of order")

    def _first_word(self, node: int, address: int, word: int, reading: Reading) -> None:
        source, number = word >> 20, word >> 8 & 0xFFF
        due = self.underway[source, node, address]
        for place, message in enumerate(due):
            if message.any_way and message.number == number and message.words[0] == reading.words[0]:
                self.seen["overtaken"] += place > 0
                reading.message = due.pop(place)
                return
        raise WrongMessageError(f"node {node}, address {address}: word {word:#x} belongs to no message that is due")
