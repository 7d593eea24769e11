"""Algorithms of MSCCL: XML, ``<algo>`` with ``<gpu>``, thread blocks ``<tb>`` and steps; read piece by piece."""

from __future__ import annotations

from typing import BinaryIO
from xml.parsers import expat

from pointsman.artifacts.xml_pieces import CHUNK, parse_pieces
from pointsman.errors import PointsmanError

from .algorithm import Action, Algorithm, Buffers, Place, check_sizes, checked_both_ways, sizes_in_place
from .threads import KINDS, RECEIVES, SENDS, Step, ThreadBlock, in_order

MAX_STEPS = 2_000_000
KNOWN = {
    "algo": {"name", "nchannels", "nchunksperloop", "proto", "ngpus", "coll", "inplace", "outofplace", "redop", "root"}
    | {"minBytes", "maxBytes", "maxcount", "nthreadblocks"},
    "gpu": {"id", "i_chunks", "o_chunks", "s_chunks"},
    "tb": {"id", "send", "recv", "chan"},
    "copy": {"i_off", "o_off", "cnt"},
    "step": {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"},
}
PARENT = {"algo": "", "gpu": "algo", "copy": "gpu", "tb": "gpu", "step": "tb"}


def from_msccl(file: BinaryIO) -> Algorithm:
    """Read an algorithm, put its steps in order, and check that it does its collective, by what every chunk is made of.

    Steps are carried out in two orders, since thread blocks run side by side, after each ``<copy>`` from input to output, which
    synthesizers write for what a rank has from the beginning. Reductions are taken to commute. What only
    matters on GPUs (protocol, sizes in bytes, ``hasdep``) is passed over.

    Raises
    ------
    PointsmanError
        Naming the line, or the step that is wrong.
    """
    reader = _Reader()
    parse_pieces(reader.parser, iter(lambda: file.read(CHUNK), b""))
    return reader.algorithm()


class _Reader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.path: list[str] = []
        self.algo: dict[str, str] = {}
        self.sizes: dict[int, tuple[int, int, int]] = {}
        self.blocks: list[ThreadBlock] = []
        self.seen: set[tuple[int, int]] = set()
        self.steps: list[Step] = []
        self.copies: list[Action] = []
        self.count = 0
        self.places: dict[Place, Place] = {}  # each kept once
        self.gpu = -1
        self.tb: tuple[int, int, int, int] = (0, -1, -1, 0)

    def wrong(self, text: str) -> PointsmanError:
        return PointsmanError(f"line {self.parser.CurrentLineNumber}: {text}")

    def number(self, given: dict[str, str], key: str, least: int, default: int | None = None) -> int:
        text = given.get(key, "" if default is None else str(default))
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and int(text) >= least):
            raise self.wrong(f"{key} must be a whole number from {least} on, not {text[:40]!r}")
        return int(text)

    def start(self, tag: str, given: dict[str, str]) -> None:
        above = self.path[-1] if self.path else ""
        if PARENT.get(tag) != above:
            inside = f" in <{above}>" if above else " at the beginning"
            raise self.wrong(
                f"<{tag}> is not known{inside}; known are <algo>, <gpu>, <tb> and <step>, one inside the other, "
                "and <copy> in a <gpu>"
            )
        self.path.append(tag)
        if unknown := sorted(given.keys() - KNOWN[tag]):
            raise self.wrong(f"{unknown[0]} of <{tag}> is not known; known are {', '.join(sorted(KNOWN[tag]))}")
        getattr(self, f"start_{tag}")(given)

    def start_algo(self, given: dict[str, str]) -> None:
        if "coll" not in given:
            raise self.wrong("coll must say which collective the algorithm is for")
        self.algo = given

    def start_gpu(self, given: dict[str, str]) -> None:
        self.gpu = self.number(given, "id", 0)
        if self.gpu in self.sizes:
            raise self.wrong(f"gpu {self.gpu} is there already")
        i, o, s = (self.number(given, f"{name}_chunks", 0, 0) for name in "ios")
        self.sizes[self.gpu] = (i, o, s)

    def start_copy(self, given: dict[str, str]) -> None:
        source, destination = ("i", self.number(given, "i_off", 0)), ("o", self.number(given, "o_off", 0))
        count = self.number(given, "cnt", 1, 1)
        self.counted()
        named = f"line {self.parser.CurrentLineNumber}: rank {self.gpu}, copy"
        self.copies.append(Action(self.gpu, (source,), destination, count, named))

    def counted(self) -> None:
        self.count += 1
        if self.count > MAX_STEPS:
            raise self.wrong(f"an algorithm must have at most {MAX_STEPS} steps")

    def start_tb(self, given: dict[str, str]) -> None:
        number, to, frm, channel = (
            self.number(given, key, least, default)
            for key, least, default in (("id", 0, None), ("send", -1, -1), ("recv", -1, -1), ("chan", 0, 0))
        )
        if self.gpu in (to, frm):
            raise self.wrong(f"a thread block of gpu {self.gpu} must not send to itself or receive from itself")
        self.tb = (number, to, frm, channel)
        self.steps = []

    def start_step(self, given: dict[str, str]) -> None:
        kind = given.get("type", "")
        if kind not in KINDS:
            raise self.wrong(f"a step of type {kind[:20]!r} is not known; known are {', '.join(sorted(KINDS))}")
        at = self.number(given, "s", 0)
        if at != len(self.steps):
            raise self.wrong(f"steps must be numbered from 0, and this must be {len(self.steps)}, not {at}")
        _, to, frm, _ = self.tb
        if kind in SENDS and to < 0:
            raise self.wrong(f"a step of type {kind} must be in a thread block that sends, and this has send=-1")
        if kind in RECEIVES and frm < 0:
            raise self.wrong(f"a step of type {kind} must be in a thread block that receives, and this has recv=-1")
        count = self.number(given, "cnt", 0 if kind == "nop" else 1, 0 if kind == "nop" else None)
        places = []
        for end in ("src", "dst"):
            name = given.get(f"{end}buf", "i")
            if name not in ("i", "o", "s"):
                raise self.wrong(f"{end}buf must be i, o or s, not {name[:20]!r}")
            place = name, self.number(given, f"{end}off", -1, 0)
            places.append(self.places.setdefault(place, place))
        block, step = self.number(given, "depid", -1, -1), self.number(given, "deps", -1, -1)
        after = (block, step) if block >= 0 and step >= 0 else None
        self.counted()
        self.steps.append(Step(kind, places[0], places[1], count, after, self.parser.CurrentLineNumber))

    def end(self, tag: str) -> None:
        self.path.pop()
        if tag == "tb":
            number, to, frm, channel = self.tb
            if (self.gpu, number) in self.seen:
                raise self.wrong(f"thread block {number} of gpu {self.gpu} is there already")
            self.seen.add((self.gpu, number))
            self.blocks.append(ThreadBlock(self.gpu, number, to, frm, channel, tuple(self.steps)))

    def algorithm(self) -> Algorithm:
        ranks = len(self.sizes)
        if sorted(self.sizes) != list(range(ranks)) or not ranks:
            raise PointsmanError(f"gpus must be numbered from 0 to {max(ranks - 1, 0)}, each once")
        if "ngpus" in self.algo and self.algo["ngpus"] != str(ranks):
            raise PointsmanError(f"line 1: ngpus is {self.algo['ngpus'][:20]}, and there are {ranks} gpus")
        inputs, outputs, scratch = (max(sizes[k] for sizes in self.sizes.values()) for k in range(3))
        in_place = self.algo.get("inplace", "0") == "1"
        collective = self.algo["coll"]
        if in_place:
            inputs, outputs = sizes_in_place(collective, ranks, inputs, outputs)
        buffers = Buffers(inputs, outputs, scratch, in_place)
        kind = check_sizes(collective, ranks, buffers)
        root = self.algo.get("root", "0")
        if not (root.isascii() and root.isdigit() and int(root[:9]) < ranks):
            raise PointsmanError(f"line 1: root must be a rank, not {root[:20]!r}")
        self._check_ends(ranks)

        def play(last_first: bool) -> Algorithm:
            messages, actions = in_order(self.blocks, last_first=last_first)
            every = (*self.copies, *actions)
            return Algorithm(self.algo.get("name", ""), kind, ranks, buffers, tuple(messages), every, int(root))

        return checked_both_ways(play)

    def _check_ends(self, ranks: int) -> None:
        numbers = {(block.rank, block.number): len(block.steps) for block in self.blocks}
        for block in self.blocks:
            if max(block.sends_to, block.receives_from) >= ranks:
                raise PointsmanError(
                    f"rank {block.rank}, thread block {block.number}: there is no gpu {max(block.sends_to, block.receives_from)}"
                )
            for at, step in enumerate(block.steps):
                if step.after is not None and step.after[1] >= numbers.get((block.rank, step.after[0]), 0):
                    raise PointsmanError(
                        f"{block.named(at)} waits for step {step.after[1]} of thread block {step.after[0]}, which is not there"
                    )
