"""Filter a signal: transform it, take a band of its spectrum, transform it back (Cooley and Tukey 1965, by binary exchange).

Of n = P·L points node q holds those from q·L. Forwards, stage by stage from the highest bit of the node's number, the points
at distance n/2, n/4, …, L meet (decimation in frequency); what is left is a transform of the node's own L points. Node q then has
the frequencies P·j + r(q), where r turns the bits of q round. Sent to node r(q), they are in order; the way back does without.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
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
        return {"points": self.length}

    def reversed(self, number: int) -> int:
        """The bits of a node number in the opposite order."""
        return int(f"{number:0{self.bits}b}"[::-1], 2) if self.bits else 0

    async def main(self, node: Node) -> Any:
        cop, length = node.cop, self.length
        mine = self.signal[node.number * length : (node.number + 1) * length].astype(np.complex64)
        for bit in reversed(range(self.bits)):
            other = await self._exchange(node, bit, mine)
            mine = (other - mine) * self._turns(node, bit) if node.number >> bit & 1 else mine + other
            await node.compute(STAGE * length)
        mine = np.fft.fft(mine).astype(np.complex64)
        await node.compute(STAGE * length * (length.bit_length() - 1))

        await cop.order_load()
        spectrum = (await cop.order_func(mine.view(np.float32))).view(np.complex64)

        mine *= self.mask[self.reversed(node.number) :: self.across]
        mine = np.fft.ifft(mine).astype(np.complex64)
        await node.compute(STAGE * length * (length.bit_length() - 1))
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
