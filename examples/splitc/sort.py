"""Four sorts in Split-C (von Eicken 1993, §6.1.3.1): bitonic, column, radix and sample sort, with stores only.

    pointsman run examples/splitc/sort.py --target logp --logp cm5 --mesh 8x4 --keys 32000 --algorithm radix
    pointsman run examples/splitc/sort.py --target packet --mesh 2x2 --keys 100 --algorithm sample

Keys lie in blocks, the first ones on processor 0, before and after. A comparison, and what a pass of radix sort does with a
key, costs a cycle of computing."""

import numpy as np

from pointsman.runtime import WrongAnswer
from pointsman.runtime.splitc import SplitC, SplitCApplication

LARGEST = np.int32(2**31 - 1)
"""Fills up blocks; no key is larger."""
SAMPLES = 32
"""Keys of each processor in the sample of sample sort."""


class Sort(SplitCApplication):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--algorithm", choices=sorted(ALGORITHMS), default="radix")
        parser.add_argument("--keys", type=int, default=200, help="keys of all processors together")
        parser.add_argument("--bits", type=int, default=8, help="bits of a digit of radix sort")
        parser.add_argument("--key-bits", type=int, default=31, help="bits of a key; few make many equal keys")
        parser.add_argument("--key-seed", type=int, default=0)

    def __init__(self, options, topology):
        super().__init__(options, topology)
        self.phases = options.phases = {}
        rng = np.random.default_rng(options.key_seed)
        self.keys = rng.integers(0, 2**options.key_bits - 1, options.keys, dtype=np.int64, endpoint=True).astype(
            np.int32
        )
        per_processor = max(1, -(-options.keys // len(topology.working)))
        room = 16 * (8 * options.keys + 128 * per_processor + 2**options.bits + 4096 * len(topology.working))
        self.memory_bytes = 1 << max(18, room.bit_length())

    async def splitc_main(self, s: SplitC):
        given = self.options_given
        n = max(1, -(-given.keys // s.PROCS))
        own = np.full(n, LARGEST)
        mine = self.keys[s.MYPROC * n : (s.MYPROC + 1) * n]
        own[: len(mine)] = mine
        return (await ALGORITHMS[given.algorithm](s, own, given)).tolist()

    def check(self, results):
        found = np.array([key for part in results if part is not None for key in part], np.int32)
        if len(found) < len(self.keys) or not np.array_equal(found[: len(self.keys)], np.sort(self.keys)):
            raise WrongAnswer("the keys are not in order")
        return f"{len(self.keys)} keys in order"

    def phase_cycles(self):
        """Cycles of each phase of radix sort, of the processor that took longest, for each key of a processor."""
        n = max(1, -(-len(self.keys) // len(self.topology.working)))
        return {phase: max(cycles.values()) / n for phase, cycles in self.phases.items()}


async def sorted_here(s: SplitC, keys: np.ndarray) -> np.ndarray:
    """The own keys in order."""
    await s.compute(len(keys) * max(1, len(keys) - 1).bit_length())
    return np.sort(keys)


async def bitonic(s: SplitC, own: np.ndarray, given) -> np.ndarray:
    """Merges whole blocks. All comparators put the smaller keys on the lower processor, so that processors which are lacking to a
    power of two, as if they had the largest keys, never take part."""
    n = len(own)
    stages = (s.PROCS - 1).bit_length()
    masks = [mask for k in range(stages) for mask in (2 ** (k + 1) - 1, *(2**j for j in reversed(range(k))))]
    blocks = await s.all_spread_allocate(max(1, len(masks)) * n * s.PROCS, np.int32)
    arrived = [s.store_counter() for _ in masks]
    here = s.allocate(n, np.int32)
    own = await sorted_here(s, own)
    for step, mask in enumerate(masks):
        partner = s.MYPROC ^ mask
        if partner >= s.PROCS:
            continue
        addr = blocks.addr + 4 * n * step
        s.local(here, n)[:] = own
        await s.bulk_store(s.pointer(partner, addr, np.int32), here, n, arrived[step])
        await s.store_sync(4 * n, arrived[step])
        both = np.sort(np.concatenate([own, s.local(s.pointer(s.MYPROC, addr, np.int32), n)]))
        await s.compute(n)
        own = both[:n] if partner > s.MYPROC else both[n:]
    return own


async def column(s: SplitC, own: np.ndarray, given) -> np.ndarray:
    """Leighton's: eight steps, of which every second permutes. A column must have 2 (P - 1)^2 keys or more, and a multiple of
    P."""
    procs = s.PROCS
    n = len(own)
    rows = -(-max(n, 2 * (procs - 1) ** 2, procs) // procs) * procs
    mine = np.full(rows, LARGEST)
    mine[:n] = own
    table = await s.all_spread_allocate(2 * rows * procs, np.int32)
    number = s.MYPROC * rows + np.arange(rows)
    for turn, step in enumerate(("transpose", "back", "shift")):
        mine = await sorted_here(s, mine)
        area = table.addr + 4 * rows * (turn % 2)
        if step == "transpose":  # taken by columns, put down by rows
            to = number % procs * rows + number // procs
        elif step == "back":
            to = number % rows * procs + number // rows
        else:
            break
        await _put(s, area, rows, to, mine)
        mine = s.memory.view(area, rows, np.int32).copy()
    # By half a column on: the lower half of each column meets the upper half of the next.
    half = rows // 2
    lower = s.allocate(rows - half, np.int32)
    s.local(lower, rows - half)[:] = mine[half:]
    area = table.addr
    met, returned = s.store_counter(), s.store_counter()
    if procs > s.MYPROC + 1:
        await s.bulk_store(s.pointer(s.MYPROC + 1, area, np.int32), lower, rows - half, met)
    if s.MYPROC:
        await s.store_sync(4 * (rows - half), met)
        both = np.concatenate([s.memory.view(area, rows - half, np.int32), mine[:half]])
        both = await sorted_here(s, both)
        mine[:half] = both[rows - half :]
        upper = s.allocate(rows - half, np.int32)
        s.local(upper, rows - half)[:] = both[: rows - half]
        there = s.pointer(s.MYPROC - 1, area + 4 * rows, np.int32)
        await s.bulk_store(there, upper, rows - half, returned)
    if procs > s.MYPROC + 1:
        await s.store_sync(4 * (rows - half), returned)
        mine[half:] = s.memory.view(area + 4 * rows, rows - half, np.int32)
    return mine


async def radix(s: SplitC, own: np.ndarray, given) -> np.ndarray:
    """Digit by digit: a histogram here, the keys before each digit's by a scan, and every key stored where it belongs."""
    n, buckets = len(own), 2**given.bits
    table = await s.all_spread_allocate(2 * n * s.PROCS, np.int32)
    own = own.astype(np.int32)
    began = s.time

    def ended(phase):
        nonlocal began
        mine = given.phases.setdefault(phase, {})
        mine[s.MYPROC] = mine.get(s.MYPROC, 0) + s.time - began
        began = s.time

    for turn, shift in enumerate(range(0, 31, given.bits)):
        digits = own >> shift & buckets - 1
        count = np.bincount(digits, minlength=buckets).astype(np.int32)
        await s.compute(n + buckets)
        ended("histogramming")
        upto = await s.scan(count)
        total = await s.broadcast(upto, s.PROCS - 1)
        before = np.cumsum(total) - total + upto - count
        ended("scanning")
        order = np.argsort(digits, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n) - np.repeat(np.cumsum(count) - count, count)
        await s.compute(n + buckets)
        area = table.addr + 4 * n * (turn % 2)
        await _put(s, area, n, before[digits] + rank, own)
        own = s.memory.view(area, n, np.int32).copy()
        ended("permuting")
    return own


async def sample(s: SplitC, own: np.ndarray, given) -> np.ndarray:
    """A sample of all keys says which processor gets which keys; then each sorts its own."""
    n, procs = len(own), s.PROCS
    own = await sorted_here(s, own)
    picked = own[np.linspace(0, n - 1, min(n, SAMPLES)).astype(int)]
    samples = await s.all_spread_allocate(len(picked) * procs * procs, np.int32)
    place = np.arange(len(picked)) + len(picked) * s.MYPROC
    for other in range(procs):
        await s.store_many(s.pointer(other, samples.addr, np.int32), place, picked)
    room = await s.all_spread_allocate(n * procs * procs, np.int32)
    await s.all_store_sync()
    every = await sorted_here(s, s.memory.view(samples.addr, len(picked) * procs, np.int32))
    splitters = every[len(picked) :: len(picked)][: procs - 1]
    to = np.searchsorted(splitters, own, side="right")
    count = np.bincount(to, minlength=procs).astype(np.int32)
    await s.compute(n * max(1, procs.bit_length()))
    upto = await s.scan(count)
    total = await s.broadcast(upto, procs - 1)
    first = np.cumsum(count) - count
    arrived = s.store_counter()
    here = s.allocate(n, np.int32)
    s.local(here, n)[:] = own
    for k in range(procs):
        other = (s.MYPROC + k) % procs
        there = s.pointer(other, room.addr + 4 * int(upto[other] - count[other]), np.int32)
        await s.bulk_store(there, here + int(first[other]), int(count[other]), arrived)
    await s.store_sync(4 * int(total[s.MYPROC]), arrived)
    return await sorted_here(s, s.memory.view(room.addr, int(total[s.MYPROC]), np.int32))


async def _put(s: SplitC, area: int, n: int, places: np.ndarray, values: np.ndarray) -> None:
    """Store values at places of a table that lies in blocks of n, and wait until all have done so."""
    base = s.pointer(0, area, np.int32).spread(s.PROCS)
    await s.store_many(base, places % n * s.PROCS + places // n, values)
    await s.all_store_sync()


ALGORITHMS = {"bitonic": bitonic, "column": column, "radix": radix, "sample": sample}
