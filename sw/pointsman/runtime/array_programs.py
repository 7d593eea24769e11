"""Array programs as applications: every node computes what it owns, and gets the rest by the operators that the compiler chose.

What a node neither owns nor was sent is poison: to read it is an error. The nodes' last values are compared with the sequential
meaning of the program, bit by bit.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import Communications
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.execution.cop_program import ALONE, CopProgram, Named
from pointsman.arrays.execution.homes import Distributed, Homes, first_distribution, redistributed
from pointsman.arrays.execution.inspecting import Inspector, inspected
from pointsman.arrays.execution.local import LocalWork, Memory, cycles_of
from pointsman.arrays.execution.sites import Site, Sites, find_sites
from pointsman.arrays.execution.steps import Broadcasts, Exchange
from pointsman.arrays.tree.meaning import Watcher, run
from pointsman.arrays.tree.statements import ArrayProgram, Branch, DoLoop, Redistribute, Statement
from pointsman.cop import Network, Parts
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Topology, mesh

from .api.application import Application, WrongAnswer
from .api.node import Node

NODE_WORDS = 1 << 20
"""Words of a node's memory."""
EXACT = 1 << 24
"""Up to here every whole number is one of 32 bits with a fraction."""


class ArrayApplication(Application):
    """An array program on a network with a node for each of its processors.

    Parameters
    ----------
    array_program : ArrayProgram
    topology : Topology or None
        Nodes and processors have the same numbers. None: a mesh of the shape of the program's grid,
        or a plane if that has more than three axes.
    first : mapping of str to ndarray
        First values of arrays; others begin with `first_values`.
    seed : int
        Of the first values that are not given.
    words : int
        32-bit words of an element, 1 or 2; expressions are computed with 64 bits in any case.
    communications : Communications or None
        After any step of the analysis; None: after the last.
    inspect : bool
        Send through subscripts that are not affine what the sequential meaning reads with these first values, and nothing else.

    Raises
    ------
    ArrayProgramError
        If the program cannot be run: a bound has no value, a node cannot hold its elements, or the network has another number
        of nodes.
    """

    def __init__(
        self,
        array_program: ArrayProgram,
        topology: Topology | None = None,
        *,
        first: Mapping[str, np.ndarray] | None = None,
        words: int = 1,
        communications: Communications | None = None,
        inspect: bool = False,
        seed: int = 1,
    ) -> None:
        grid = array_program.grid
        if topology is None:
            topology = mesh(*(reversed(grid.shape) if len(grid.shape) <= 3 else grid.plane))
        super().__init__(argparse.Namespace(), topology)
        if len(topology.working) != grid.size:
            raise ArrayProgramError(
                f"{array_program.name} has {grid.size} processors, not the {len(topology.working)} of the {topology.described}",
                hint="give --procs, or another network",
            )
        self.array_program = array_program
        self.name = array_program.name
        self.results: Sequence[Any] = ()
        self.dtype = np.dtype(np.float32 if words == 1 else np.float64)
        held = Homes(array_program).size * words
        if held > NODE_WORDS:
            largest = max(array_program.arrays.values(), key=lambda one: prod(one.shape))
            bounds = ",".join(f"{low}:{high}" for low, high in largest.bounds)
            raise ArrayProgramError(
                f"the arrays of {array_program.name} take {held} words, most of them {largest.name}({bounds}); "
                f"a node has {NODE_WORDS}",
                position=largest.position,
                hint="every node has room for all elements; make the arrays smaller (--set)",
            )
        self.first = dict(first_values(array_program, seed), **(first or {}))
        self.words = words
        inspector = Inspector(Homes(array_program)) if inspect else None
        self.expected = self._expected(inspector)
        self.sites: Sites = find_sites(derive(array_program)["scheduled"] if communications is None else communications)
        self.inspected: tuple[int, int] | None = None
        """Elements of irregular communications before and after inspection."""
        if inspector is not None:
            found = inspected(self.sites, inspector)
            self.sites, self.inspected = found.sites, (found.before, found.after)
        self.cop_program = CopProgram(self.sites, words)
        self.local = LocalWork(self.sites.homes)

    def _expected(self, watcher: Watcher | None) -> dict[str, np.ndarray]:
        """The last values, by the sequential meaning."""
        found = run(self.array_program, self.first, watcher, dtype=self.dtype)
        for one in sorted(self.array_program.integers & found.keys()):
            if self.words == 1 and np.abs(found[one]).max(initial=0) > EXACT:
                raise ArrayProgramError(
                    f"{one} has whole numbers beyond {EXACT}, which elements of 32 bits do not hold", hint="--words 2"
                )
        return found

    def program(self, net: Network) -> Parts:
        """The COP program."""
        return self.cop_program.parts()

    async def main(self, node: Node) -> Any:
        """The program of a node; gives its buffer, which elements of it are valid, and the last distributions."""
        processor = _Processor(self, node)
        values = dict(self.array_program.parameters)
        last = await processor.do(self.array_program.body, values, first_distribution(self.array_program))
        if not self.cop_program.steps:
            await getattr(node.cop, f"{ALONE}_load")()
            await getattr(node.cop, f"{ALONE}_func")()
        return processor.memory.data, processor.memory.valid, last

    def check(self, results: Sequence[Any]) -> str:
        """Every element at its owner, and what all have at everyone, against the sequential meaning."""
        homes = self.sites.homes
        self.results = [one for one in results if one is not None]  # of the nodes that work
        elements = 0
        for node, (data, valid, last) in enumerate(self.results):
            own = homes.own(node, last)
            for name, array in self.array_program.arrays.items():
                part = homes.part(name)
                expected = self.expected[name].reshape(-1)
                wrong = own[part] & ~(valid[part] & _same(data[part], expected))
                elements += int(own[part].sum())
                if wrong.any():
                    at = int(np.flatnonzero(wrong)[0])
                    place = np.unravel_index(at, array.shape) if array.shape else ()
                    element = ",".join(str(int(k) + low) for k, (low, _) in zip(place, array.bounds, strict=True))
                    raise WrongAnswer(
                        f"{name}({element}) is {data[part][at]} on node {node}, and {expected[at]} by the sequential meaning"
                    )
        arrays = len(self.array_program.arrays)
        return f"all {elements} elements of {arrays} array{'s' if arrays > 1 else ''} equal those of the sequential meaning"

    def save(self, path: Path) -> None:
        """Write the arrays as the nodes left them to a ``.npz`` file, once the program has run."""
        homes = self.sites.homes
        found = {name: np.zeros(array.shape, self.dtype) for name, array in self.array_program.arrays.items()}
        for node, (data, _, last) in enumerate(self.results):
            own = homes.own(node, last)
            for name, array in found.items():
                part = homes.part(name)
                array.reshape(-1)[own[part]] = data[part][own[part]]
        file = io.BytesIO()
        np.savez(file, **found)  # type: ignore[arg-type]
        write_whole(path, file.getvalue())

    def described(self) -> list[dict[str, Any]]:
        """The operators of the COP program: what each carries, in messages of how many words, how often a visit."""
        return [
            {
                "label": named.label,
                "place": str(site.statement.position or ""),
                "arrays": site.name.split("_") if site.message is None else [one.array for one in site.message],
                "kind": "broadcast" if isinstance(named.step, Broadcasts) else named.step.kind,
                "words": named.step.items * self.cop_program.words,
                "uses": named.uses,
            }
            for site, steps in self.cop_program.steps.items()
            for named in steps
        ]


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    same: np.ndarray = (one == other) | ((one != one) & (other != other))
    return same


def first_values(program: ArrayProgram, seed: int = 1) -> dict[str, np.ndarray]:
    """First values of all arrays: fractions between 1/2 and 3/2; ones where the program declares whole numbers."""
    chance = np.random.default_rng(seed)
    return {
        name: np.ones(array.shape) if name in program.integers else 0.5 + chance.random(array.shape)
        for name, array in program.arrays.items()
    }


def read_values(path: Path, program: ArrayProgram) -> dict[str, np.ndarray]:
    """Arrays of a program from a ``.npz`` file.

    Raises
    ------
    PointsmanError
        If it is no such file, or an array is not of the program, or has another shape, no numbers, or fractions for INTEGER.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name.lower(): file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, KeyError) as error:
        raise PointsmanError(f"cannot read {path}: {error}", hint="numpy.savez writes such files") from None
    for name, value in found.items():
        array = program.arrays.get(name)
        if array is None or array.shape != value.shape or value.dtype.kind not in "fiub":
            what = "no array" if array is None else f"an array of numbers of the shape {array.shape}"
            has = f"the shape {value.shape}" if value.dtype.kind in "fiub" else f"elements of {value.dtype}"
            raise PointsmanError(f"{path}: {name} has {has}, and is {what} in {program.name}")
        if name in program.integers and not (value == np.rint(value)).all():
            raise PointsmanError(f"{path}: {name} has fractions, and is of whole numbers in {program.name}")
    return found


APPLICATION = '''\
"""{file}, as an application: pointsman run FILE.py --mesh {mesh}"""

from pointsman.arrays.fortran.reading import read_program
from pointsman.runtime.array_programs import ArrayApplication

TEXT = {text}


class Program(ArrayApplication):
    def __init__(self, options, topology):
        read = read_program(TEXT, {file!r}, values={values!r}, processors={shape!r})
        super().__init__(read, topology, words={words})
'''


def application_text(text: str, file: str, values: Mapping[str, int], shape: tuple[int, ...], words: int) -> str:
    """An application file for a program's text."""
    quoted = "(\n" + "".join(f"    {line!r}\n" for line in text.splitlines(keepends=True)) + ")"
    mesh_ = "x".join(map(str, reversed(shape)))
    return APPLICATION.format(
        file=file, text=quoted, values=dict(values), shape=shape, words=words, mesh=mesh_
    ).rstrip()


class _Processor:
    """A node at work."""

    def __init__(self, application: ArrayApplication, node: Node) -> None:
        self.application = application
        self.sites = application.sites
        self.cop = application.cop_program
        self.homes = self.sites.homes
        self.node = node
        state = first_distribution(application.array_program)
        self.number = node.topology.ranks[node.number]
        own = self.homes.own(self.number, state)
        data = np.zeros(self.homes.size, application.dtype)
        for name in application.array_program.arrays:
            data[self.homes.part(name)] = np.asarray(application.first[name]).reshape(-1)
        self.memory = Memory(data, np.ones(self.homes.size, bool))
        self.memory.keep(own)

    async def do(self, body: Sequence[Statement], values: dict[str, Any], state: Distributed) -> Distributed:
        for statement in body:
            for site in self.sites.before.get(statement, ()):
                await self.communicate(site, site.key(values, state))
            if isinstance(statement, Redistribute):
                state = redistributed(state, statement.template, statement.spreads)
                self.forget(statement.template, state)
            elif isinstance(statement, DoLoop) and statement in self.sites.stepwise:
                if statement in self.cop.loops:
                    await getattr(self.node.cop, f"{self.cop.loops[statement]}_load")()
                for value in statement.range.values(values):
                    state = await self.do(statement.body, {**values, statement.range.name: value}, state)
            elif isinstance(statement, Branch) and statement in self.sites.stepwise:
                await self.compute(cycles_of(statement.condition))
                chosen = self.application.local.truth(statement)(self.memory.words, self.memory.truths, values)
                state = await self.do(statement.then if chosen else statement.otherwise, values, state)
            else:
                work = self.application.local.work(statement, state)
                await self.compute(work(self.memory.words, self.memory.truths, self.number, values))
        return state

    async def compute(self, cycles: int) -> None:
        if cycles:
            await self.node.compute(cycles)

    def forget(self, template: str, state: Distributed) -> None:
        """After a redistribution, copies of the arrays that moved are poison."""
        keep = np.ones(self.homes.size, bool)
        own = self.homes.own(self.number, state)
        for name, array in self.application.array_program.arrays.items():
            if array.template == template:
                keep[self.homes.part(name)] = own[self.homes.part(name)]
        self.memory.keep(keep)

    # Communications

    async def communicate(self, site: Site, key: Any) -> None:
        for named in self.cop.steps[site]:
            if named.round_ is not None:
                await getattr(self.node.cop, f"{named.round_}_load")()
            if isinstance(named.step, Broadcasts):
                await self.broadcasts(named, named.step, key)
            elif named.step.kind == "stream":
                await self.stream(named, named.step, key)
            else:
                await self.exchange(named, named.step, key)

    async def broadcasts(self, named: Named, step: Broadcasts, key: Any) -> None:
        me = self.number
        number = next(number for number, group in enumerate(step.groups) if me in group)
        for source, elements in step.sources[key][number]:
            at = step.groups[number].index(source)
            await getattr(self.node.cop, f"{named.label}_load")(*(() if step.fixed is not None else (at,)))
            for part in _messages(elements, step.items):
                if source == me:
                    await getattr(self.node.cop, f"{named.label}_write")(self.packed(part, step.items))
                else:
                    self.unpack(part, await getattr(self.node.cop, f"{named.label}_read")())

    async def stream(self, named: Named, step: Exchange, key: Any) -> None:
        await getattr(self.node.cop, f"{named.label}_load")()
        for (source, end), elements in step.sent[key].items():
            for part in _messages(elements, step.items):
                if source == self.number:
                    await getattr(self.node.cop, f"{named.label}_write")(self.packed(part, step.items))
                elif end == self.number:
                    self.unpack(part, await getattr(self.node.cop, f"{named.label}_read")())

    async def exchange(self, named: Named, step: Exchange, key: Any) -> None:
        uses = step.uses(key)
        if not uses:
            return
        me = self.number
        nothing = np.zeros(0, np.int64)
        sent = step.sent[key]
        out = next((what for (source, _), what in sent.items() if source == me), nothing)
        into = next((what for (_, end), what in sent.items() if end == me), nothing)
        await getattr(self.node.cop, f"{named.label}_load")()
        for at in range(uses):
            part = slice(at * step.items, (at + 1) * step.items)
            words = await getattr(self.node.cop, f"{named.label}_func")(self.packed(out[part], step.items))
            self.unpack(into[part], words)

    def packed(self, elements: np.ndarray, items: int) -> np.ndarray:
        """A message of elements, filled up with zeros."""
        if not self.memory.valid[elements].all():
            raise PointsmanError(f"node {self.number} has to send elements that it does not have")
        message = np.zeros(items, self.application.dtype)
        message[: len(elements)] = self.memory.data[elements]
        return message

    def unpack(self, elements: np.ndarray, message: np.ndarray) -> None:
        self.memory.data[elements] = message[: len(elements)]
        self.memory.valid[elements] = True


def _messages(elements: np.ndarray, items: int) -> Iterator[np.ndarray]:
    for at in range(0, len(elements), items):
        yield elements[at : at + items]
