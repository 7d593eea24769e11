"""A kernel like EM3D: electric and magnetic nodes on a random bipartite graph, each updated from its neighbours, in turn.

    pointsman run examples/splitc/em3d.py --target logp --logp cm5 --mesh 4x4 --nodes 40
    pointsman run examples/splitc/em3d.py --target packet --mesh 2x2 --nodes 6

Values of neighbours elsewhere come by get, all at once; a reading by `read` would wait for each (``--blocking``).
"""

import numpy as np

from pointsman.runtime import WrongAnswer
from pointsman.runtime.splitc import SplitC, SplitCApplication


class Em3d(SplitCApplication):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--nodes", type=int, default=10, help="nodes of each kind on a processor")
        parser.add_argument("--degree", type=int, default=3, help="neighbours of a node")
        parser.add_argument("--steps", type=int, default=2)
        parser.add_argument("--blocking", action="store_true")

    def __init__(self, options, topology):
        super().__init__(options, topology)
        count = options.nodes * len(topology.working)
        rng = np.random.default_rng(2)
        self.start = rng.integers(-9, 9, (2, count))
        self.neighbours = rng.integers(0, max(1, count), (2, count, options.degree))
        self.weights = rng.integers(-2, 3, (2, count, options.degree))

    async def splitc_main(self, s: SplitC):
        given = self.options_given
        n = given.nodes
        fields = [await s.all_spread_allocate(n * s.PROCS, np.int64) for _ in range(2)]
        mine = [s.memory.view(field.addr, n, np.int64) for field in fields]
        own = np.arange(n) * s.PROCS + s.MYPROC  # node k is on processor k mod PROCS
        for kind in range(2):
            mine[kind][:] = self.start[kind, own]
        copies = s.allocate(n * given.degree, np.int64)
        await s.barrier()
        for _ in range(given.steps):
            for kind in range(2):
                wanted = self.neighbours[kind, own].ravel().tolist()
                for k, node in enumerate(wanted):
                    if given.blocking:
                        s.local(copies + k)[0] = await s.read(fields[1 - kind] + node)
                    else:
                        await s.get(fields[1 - kind] + node, copies + k)
                await s.sync()
                near = s.local(copies, n * given.degree).reshape(n, given.degree)
                mine[kind] += (self.weights[kind, own] * near).sum(axis=1)
                await s.compute(n * given.degree)
                await s.barrier()
        return [field.tolist() for field in mine]

    def check(self, results):
        values = self.start.astype(np.int64)
        for _ in range(self.options_given.steps):
            for kind in range(2):
                values[kind] += (self.weights[kind] * values[1 - kind][self.neighbours[kind]]).sum(axis=1)
        results = [one for one in results if one is not None]  # of the nodes that work
        procs = len(results)
        for kind in range(2):
            found = [results[k % procs][kind][k // procs] for k in range(values.shape[1])]
            if found != values[kind].tolist():
                raise WrongAnswer(f"field {kind} is wrong")
        return f"{values.shape[1]} nodes of each kind"
