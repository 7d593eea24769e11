"""Filter a signal: transform it, take a band of its spectrum, transform it back (Cooley and Tukey 1965).

Of n = P·L points node q holds those from q·L. It ends up with frequencies P·j + q or, by exchange, P·j + r(q), where r turns the
bits of q round; sent to node r(q), they are in order.

By transposition (Bailey 1990): the points are a matrix of P rows, one a node. Transposed, a node has all P points of L/P
columns and transforms these; transposed again, with the factors between, it has a row for a transform of L points. A
transposition is P - 1 shifts, of which each moves the block for the node that is so far away. The order is the application's:
forwards the nearest node first, back the farthest.

By exchange: forwards, stage by stage from the highest bit of the node's number, the points at distance n/2, n/4, …, L meet
(decimation in frequency); what is left is a transform of the node's own L points.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

STAGE = 5
"""Cycles for a point in a stage: the usual count of 5 n log2 n operations, one a cycle."""


class Fft(Application):
    program = "fft.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--by", choices=("transposition", "exchange"), default="transposition", help="how nodes exchange points"
        )
        parser.add_argument("--points", type=int, default=64, help="points of each node (default 64)")
        parser.add_argument("--band", type=float, default=0.25, help="part of the frequencies to keep (default 0.25)")
        parser.add_argument("--values", type=int, default=1, help="seed of the random signal (default 1)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        self.across, self.length = topology.nodes, options.points
        for what, number in (("a mesh of so many nodes", self.across), ("--points", self.length)):
            if number < 1 or number & (number - 1):
                raise PointsmanError(f"{what} must be a power of two, not {number}")
        if self.length > 4096:
            raise PointsmanError(f"--points must be 1 to 4096, not {self.length}")
        self.transposing = options.by == "transposition"
        if self.transposing and self.length < self.across:
            raise PointsmanError(
                f"by transposition each node needs a point for each of the {self.across} nodes, not --points {self.length}",
                hint="take more points, or --by exchange",
            )
        if not 0 <= options.band <= 1:
            raise PointsmanError(f"--band must be 0 to 1, not {options.band}")
        self.bits = self.across.bit_length() - 1
        self.n = self.across * self.length
        random = np.random.default_rng(options.values)
        signal = random.standard_normal((2, self.n)).astype(np.float32)
        self.signal = signal[0] + 1j * signal[1]
        # Low frequencies stand at both ends of a spectrum.
        distance = np.minimum(np.arange(self.n), self.n - np.arange(self.n))
        self.mask = distance <= options.band * self.n / 2

    def parameters(self) -> Mapping[str, int]:
        return {"points": self.length, "transposing": int(self.transposing)}

    def reversed(self, number: int) -> int:
        """The bits of a node number in the opposite order."""
        return int(f"{number:0{self.bits}b}"[::-1], 2) if self.bits else 0

    async def main(self, node: Node) -> Any:
        mine = self.signal[node.number * self.length : (node.number + 1) * self.length].astype(np.complex64)
        if self.across == 1:
            spectrum = await self._own(node, np.fft.fft, mine)
            return spectrum, await self._own(node, np.fft.ifft, spectrum * self.mask)
        return await (self._by_transposition(node, mine) if self.transposing else self._by_exchange(node, mine))

    async def _own(self, node: Node, transform: Any, points: np.ndarray) -> np.ndarray:
        """A transform of the node's own points."""
        await node.compute(STAGE * self.length * (self.length.bit_length() - 1))
        return transform(points).astype(np.complex64)

    # -- by transposition --------------------------------------------------------------------------------------

    async def _by_transposition(self, node: Node, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here, width, nearest = node.number, self.length // self.across, range(1, self.across)
        columns = np.arange(here * width, (here + 1) * width)
        factors = np.exp(-2j * np.pi * np.outer(np.arange(self.across), columns) / self.n).astype(np.complex64)

        blocks = await self._transpose(node, mine.reshape(self.across, width), nearest)
        blocks = np.fft.fft(blocks, axis=0).astype(np.complex64) * factors
        await node.compute(STAGE * self.length * self.bits)
        row = (await self._transpose(node, blocks, nearest)).reshape(self.length)
        spectrum = await self._own(node, np.fft.fft, row)

        row = await self._own(node, np.fft.ifft, spectrum * self.mask[here :: self.across])
        blocks = await self._transpose(node, row.reshape(self.across, width), reversed(nearest))
        blocks = np.fft.ifft(blocks * factors.conj(), axis=0).astype(np.complex64)
        await node.compute(STAGE * self.length * self.bits)
        filtered = (await self._transpose(node, blocks, reversed(nearest))).reshape(self.length)
        return spectrum, filtered

    async def _transpose(self, node: Node, blocks: np.ndarray, distances: Iterable[int]) -> np.ndarray:
        """Block p of each node goes to node p, block q there is that of node q."""
        cop, here, nodes = node.cop, node.number, self.across
        received = np.zeros_like(blocks)
        received[here] = blocks[here]
        for distance in distances:
            await cop.swap_load(distance)
            block = np.ascontiguousarray(blocks[(here + distance) % nodes])
            received[(here - distance) % nodes] = (await cop.swap_func(block.view(np.float32))).view(np.complex64)
        return received

    # -- by exchange -------------------------------------------------------------------------------------------

    async def _by_exchange(self, node: Node, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cop, length = node.cop, self.length
        for bit in reversed(range(self.bits)):
            other = await self._exchange(node, bit, mine)
            mine = (other - mine) * self._turns(node, bit) if node.number >> bit & 1 else mine + other
            await node.compute(STAGE * length)
        mine = await self._own(node, np.fft.fft, mine)

        await cop.order_load()
        spectrum = (await cop.order_func(mine.view(np.float32))).view(np.complex64)

        mine = await self._own(node, np.fft.ifft, mine * self.mask[self.reversed(node.number) :: self.across])
        for bit in range(self.bits):
            odd = node.number >> bit & 1
            if odd:
                mine = mine * self._turns(node, bit).conj()
            other = await self._exchange(node, bit, mine)
            mine = ((other - mine) if odd else (mine + other)) / np.float32(2)
            await node.compute(STAGE * length)
        return spectrum, mine

    async def _exchange(self, node: Node, bit: int, points: np.ndarray) -> np.ndarray:
        """Points of the node whose number differs in ``bit``, for those of this one."""
        await getattr(node.cop, f"x{bit}_load")()
        received = await getattr(node.cop, f"x{bit}_func")(np.ascontiguousarray(points).view(np.float32))
        return received.view(np.complex64)

    def _turns(self, node: Node, bit: int) -> np.ndarray:
        """By what the differences of a stage are multiplied: roots of unity of as many points as meet in it."""
        first = (node.number & ((1 << bit) - 1)) * self.length
        angles = -2j * np.pi * np.arange(first, first + self.length) / (self.length << (bit + 1))
        return np.exp(angles).astype(np.complex64)

    def check(self, results: Sequence[Any]) -> str:
        found = np.zeros(self.n, np.complex64)
        for number, (spectrum, _) in enumerate(results):
            found[number :: self.across] = spectrum
        expected = np.fft.fft(self.signal)
        # Rounding grows with the number of stages (Gentleman and Sande 1966); sizes are those of the spectrum.
        allowed = 8 * max(1, self.n.bit_length()) * np.finfo(np.float32).eps * float(np.sqrt(self.n)) * 4
        error = float(np.abs(found - expected).max())
        if error > allowed:
            raise WrongAnswer(f"the spectrum differs from numpy's by {error:.2g}, more than {allowed:.2g}")
        filtered = np.concatenate([signal for _, signal in results])
        wanted = np.fft.ifft(expected * self.mask)
        rest = float(np.abs(filtered - wanted).max())
        if rest > allowed:
            raise WrongAnswer(f"the filtered signal differs from numpy's by {rest:.2g}, more than {allowed:.2g}")
        return (
            f"the spectrum of {self.n} points is within {error:.1e} of numpy's, the filtered signal within {rest:.1e}"
        )
