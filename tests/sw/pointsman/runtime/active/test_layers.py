"""Split-C and TAM at once on the same nodes: messages of either find their handlers, whatever the other waits for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.active import Handlers, Reply
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.active.layers import Layers, shared_handlers
from pointsman.runtime.api.node import Node
from pointsman.runtime.splitc import SplitC
from pointsman.runtime.splitc.accessors import splitc_handlers
from pointsman.runtime.tam import assemble
from pointsman.runtime.tam.costs import Costs
from pointsman.runtime.tam.handlers import tam_handlers
from pointsman.runtime.tam.processor import Processor

FIB = Path(__file__).parents[5] / "examples/tam/fib.tam"


class Both(ActiveApplication):
    """Stores are under way while TAM runs; some nodes begin with TAM while others still compute or wait in Split-C."""

    window = 1

    async def main(self, node: Node) -> Any:
        carrier = self.carrier(node)
        await carrier.start()
        layers = Layers(carrier, {"splitc": splitc_handlers(), "tam": tam_handlers()})
        s = SplitC(node, carrier, endpoint=layers.of("splitc"))
        tam = Processor(assemble(FIB.read_text()), carrier.number, carrier.nodes, Costs())
        layers.states.update(splitc=s.state, tam=tam)
        base = await s.all_spread_allocate(3 * s.PROCS, np.int32)
        await s.compute(700 * (s.MYPROC % 3))
        for k in range(3):
            await s.store(base + (s.PROCS * k + (s.MYPROC + k + 1) % s.PROCS), 10 * s.MYPROC + k)
        if s.MYPROC == 0:
            frame = tam.frames.allocate(tam.program.main)
            assert frame is not None
            tam.deliver(frame, 0, [6], local=True)
        await tam.run(layers.of("tam"))
        await s.all_store_sync()
        seen = await s.read(base + (s.MYPROC + 1) % s.PROCS)
        await tam.close(layers.of("tam"))
        await s.barrier()
        await carrier.finish()
        return tam.result, int(seen), s.memory.view(base.addr, 3, np.int32).tolist()


@pytest.mark.parametrize(
    "target",
    ["logp", "packet", pytest.param("tdm", marks=pytest.mark.slow), pytest.param("numesh", marks=pytest.mark.slow)],
)
def test_two_layers_share_a_network(target: str) -> None:
    options: dict[str, Any] = {"logp": "cm5,delay=400,capacity=1"} if target == "logp" else {"engine": "model"}
    nodes = 3 if target == "numesh" else 4
    found = pointsman.run(Both(argparse.Namespace(), mesh(nodes)), target=target, **options).finished.record.results
    assert [result for result, _, _ in found if result is not None] == [[8]]
    for me, (_, seen, stored) in enumerate(found):
        assert stored == [10 * ((me - k - 1) % nodes) + k for k in range(3)]
        assert seen == 10 * me


def _handlers(answer: Any) -> Handlers:
    made = Handlers()
    made.add("ask", lambda state, source, arguments, data: answer)
    made.add("told", lambda state, source, arguments, data: state.append(arguments), reply=True)
    return made


def test_tags_keep_handlers_of_one_name_apart() -> None:
    made = shared_handlers({"a": _handlers(Reply("told", (1,))), "b": _handlers([Reply("told", (2,)), Reply("told")])})
    assert made.names == ["a.ask", "a.told", "b.ask", "b.told"]
    states: dict[str, list[Any]] = {"a": [], "b": []}
    assert made.functions[0](states, 0, (), b"") == Reply("a.told", (1,))
    assert made.functions[2](states, 0, (), b"") == [Reply("b.told", (2,)), Reply("b.told")]
    made.functions[3](states, 0, (5,), b"")
    assert states == {"a": [], "b": [(5,)]}


def test_what_cannot_be_layers_is_refused() -> None:
    for name in ("", "a.b"):
        with pytest.raises(PointsmanError, match="must be a name without dots"):
            shared_handlers({name: Handlers()})

    class Wrong(ActiveApplication):
        async def main(self, node: Node) -> None:
            layers = Layers(self.carrier(node), {"a": _handlers(None)})
            with pytest.raises(PointsmanError, match="there is no layer 'b'"):
                layers.of("b")
            layers.states["a"] = []
            await layers.of("a").request(0, "told")

    with pytest.raises(PointsmanError, match=r"'a\.told' is one of replies"):
        pointsman.run(Wrong(argparse.Namespace(), mesh(1)), target="logp")
