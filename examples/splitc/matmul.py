"""Matrix multiplication in Split-C: C = A B, blocks of rows, the rows of B fetched while the last ones are used.

pointsman run examples/splitc/matmul.py --target logp --logp cm5 --mesh 4x4 --size 32
pointsman run examples/splitc/matmul.py --target tdm --mesh 2x2 --size 8
"""

import numpy as np

from pointsman.runtime import WrongAnswer
from pointsman.runtime.splitc import SplitC, SplitCApplication


class MatMul(SplitCApplication):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--size", type=int, default=16)

    def __init__(self, options, topology):
        super().__init__(options, topology)
        rng = np.random.default_rng(1)
        self.a, self.b = (rng.integers(-9, 9, (options.size, options.size)).astype(np.int32) for _ in range(2))
        self.memory_bytes = 1 << max(18, (64 * options.size**2).bit_length())

    async def splitc_main(self, s: SplitC):
        n = self.options_given.size
        rows = range(s.MYPROC, n, s.PROCS)  # row k of a matrix is on processor k mod PROCS
        high = -(-n // s.PROCS)
        b = await s.all_spread_allocate(max(1, high * n) * s.PROCS, np.int32)
        for place, row in enumerate(rows):
            s.memory.view(b.addr + 4 * n * place, n, np.int32)[:] = self.b[row]
        await s.barrier()
        buffers = [s.allocate(n, np.int32) for _ in range(2)]
        counters = [s.counter() for _ in range(2)]
        c = np.zeros((len(rows), n), np.int64)
        order = [(row + s.MYPROC) % n for row in range(n)]  # not all ask the same processor at once

        async def ask(k: int) -> None:
            there = s.pointer(order[k] % s.PROCS, b.addr + 4 * n * (order[k] // s.PROCS), np.int32)
            await s.bulk_get(buffers[k % 2], there, n, counters[k % 2])

        if n:
            await ask(0)
        for k in range(n):
            if k + 1 < n:
                await ask(k + 1)
            await s.sync(counters[k % 2])
            c += np.outer(self.a[rows, order[k]], s.local(buffers[k % 2], n))
            await s.compute(len(rows) * n)
        return c.tolist()

    def check(self, results):
        results = [one for one in results if one is not None]  # of the nodes that work
        n, procs = self.options_given.size, len(results)
        found = np.array([results[row % procs][row // procs] for row in range(n)]).reshape(n, n)
        if not np.array_equal(found, self.a.astype(np.int64) @ self.b):
            raise WrongAnswer("the product is wrong")
        return f"{n}x{n} matrices multiplied"
