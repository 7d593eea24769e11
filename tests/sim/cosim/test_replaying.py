"""Calls of a run played again: rounds, values, permutations and order as they were; long runs from their beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointsman
from cosim.playing import Played
from cosim.replaying import replay
from cosim.spans import Call
from cosim.tdm.model import switch_machine
from pointsman import cop
from pointsman.artifacts.tables import ConnectionTables
from pointsman.cop import Network, Parts, compile_text
from pointsman.network import mesh
from pointsman.runtime import Application, Node
from pointsman.runtime.tdm import tdm_node


class Varied(Application):
    """A loop that goes round more often than its text says, backwards too, without its optional group but once."""

    rounds = 7

    def program(self, net: Network) -> Parts:
        return [
            cop.loop(
                "l",
                2,
                cop.cshift("turn", cop.runtime(), m=5),
                cop.permute("swap", cop.runtime(), m=3),
                cop.permute("mine", cop.runtime(distributed=True), m=2),
                cop.broadcast("news", cop.runtime(distributed=True), type="float64"),
                cop.optional(cop.allreduce("most", cop.runtime(), m=2)),
            ),
            cop.stream("last", 0, cop.runtime(dynamic=True)),
        ]

    async def main(self, node: Node) -> None:
        nodes = node.nodes
        await node.cop.l_load()
        for number in range(self.rounds):
            await node.cop.turn_load(-1 - number % (nodes - 1))
            await node.cop.turn_func(np.zeros(5, np.int32))
            order = np.roll(np.arange(nodes), number).tolist()
            await node.cop.swap_load(order)
            await node.cop.swap_func(np.zeros(3, np.int32))
            await node.cop.mine_load(nodes - 1 - node.number)
            await node.cop.mine_func(np.zeros(2, np.int32))
            source = number % nodes
            await node.cop.news_load(node.number == source)
            await (node.cop.news_write(1.0) if node.number == source else node.cop.news_read())
            if number == 3:
                await node.cop.most_load(np.maximum)
                await node.cop.most_func(np.zeros(2, np.int32))
        for to in (nodes - 1, 1):
            await node.cop.last_load(to if node.number == 0 else None)
            if node.number == 0:
                await node.cop.last_write(1)
            elif node.number == to:
                await node.cop.last_read()


@pytest.mark.parametrize("target", ["tdm", "packet"])
@pytest.mark.parametrize("network", ["2x2", "3x2"])
def test_what_a_run_took_is_predicted_to_the_cycle(target: str, network: str) -> None:
    done = pointsman.run(Varied, network, target=target, engine="model")
    assert done.values["predicted_cycles"] == done.total_cycles
    timed = [entry for entry in done.values["operators"].values() if "measured" in entry]
    assert len(timed) == 6
    assert [one["predicted"] for one in timed] == pytest.approx([one["measured"] for one in timed], abs=1)


@pytest.mark.parametrize("target", ["tdm", "packet"])
def test_a_run_that_leaves_everything_out_is_predicted_too(target: str) -> None:
    class Nothing(Varied):
        async def main(self, node: Node) -> None:
            pass

    done = pointsman.run(Nothing, "2x2", target=target, engine="model")
    assert done.values["predicted_cycles"] == done.total_cycles


def test_computing_is_left_out() -> None:
    class Slow(Varied):
        async def main(self, node: Node) -> None:
            await node.compute(1000)
            await super().main(node)

    slow, quick = (pointsman.run(kind, "2x2", target="packet", engine="model") for kind in (Slow, Varied))
    assert slow.total_cycles > quick.total_cycles + 900
    assert slow.values["predicted_cycles"] == quick.values["predicted_cycles"]


class Shifts(Application):
    """Many rounds, and one operator in every second of them."""

    def program(self, net: Network) -> Parts:
        return cop.loop("l", 2, cop.cshift("a", 1, m=20), cop.allreduce("b", m=4))

    async def main(self, node: Node) -> None:
        for number in range(200):
            await node.cop.a_load()
            await node.cop.a_func(np.zeros(20, np.int32))
            if number % 2:
                await node.cop.b_load()
                await node.cop.b_func(np.zeros(4, np.int32))


def replayed_within(tables: ConnectionTables, calls: Sequence[Call], limit: int) -> Played | None:
    with switch_machine(tables.shape, "model", progress=False) as machine:

        def nodes(functions: Mapping[str, Any]) -> list[Node]:
            return [tdm_node(tables, k, machine, functions=functions) for k in range(4)]

        found = replay([one.operator for one in tables.operators], calls, machine, nodes, limit=limit)
        assert machine.time <= max(1000, limit // 4)
    return found


@pytest.fixture(scope="module")
def shifts() -> pointsman.Result:
    return pointsman.run(Shifts, "2x2", target="tdm", mode="dynamic", engine="model")


def test_a_long_run_is_reckoned_from_its_beginning(shifts: pointsman.Result) -> None:
    """Each operator's calls cost what its first ones did, however often the run called them."""
    tables, calls = shifts.artifact, shifts.finished.calls
    whole = replayed_within(tables, calls, 4 * shifts.total_cycles)
    assert whole is not None
    assert whole.cycles == shifts.total_cycles
    for limit in (12_000, 24_000):
        assert 4 * shifts.total_cycles > 2 * limit
        part = replayed_within(tables, calls, limit)
        assert part is not None
        assert part.cycles == pytest.approx(whole.cycles, rel=0.1)
        assert part.operators == pytest.approx(dict(whole.operators), rel=0.1)


def test_nothing_is_said_of_operators_that_are_not_reached(shifts: pointsman.Result) -> None:
    late = [call for call in shifts.finished.calls if call.label == "a" or call.start > shifts.total_cycles // 2]
    assert replayed_within(shifts.artifact, late, 8_000) is None


def test_calls_that_wait_for_ever_are_not_predicted(shifts: pointsman.Result) -> None:
    alone = [call for call in shifts.finished.calls if call.node == 0]
    assert replayed_within(shifts.artifact, alone, 8_000) is None


def test_tables_of_a_file_are_predicted_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "shifts.tables"
    text = "(loop 'l 2 (cshift 'a 1 :m 20) (allreduce 'b :m 4))"
    pointsman.compile(compile_text(text, topology=mesh(2, 2), mode="tdm"), mesh(2, 2), target="tdm").write(path)
    done = pointsman.run(Shifts, "2x2", target="tdm", image=path, engine="model")
    assert done.values["predicted_cycles"] == done.total_cycles


def test_nothing_is_said_of_an_operator_of_which_only_loads_are_reached() -> None:
    class Long(Application):
        def program(self, net: Network) -> Parts:
            return [cop.cshift("one", 1, m=1500), cop.cshift("other", 1, m=1500)]

        async def main(self, node: Node) -> None:
            for label in ("one", "other"):
                await getattr(node.cop, f"{label}_load")()
                await getattr(node.cop, f"{label}_func")(np.zeros(1500, np.int32))

    done = pointsman.run(Long, "2x2", target="tdm", engine="model", mode="dynamic")
    for share in (0.25, 0.75):  # none of the calls of `other` has ended by then, though its loads have
        assert replayed_within(done.artifact, done.finished.calls, int(share * 4 * done.total_cycles)) is None
