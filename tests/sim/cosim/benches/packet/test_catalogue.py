"""The benches of packet networks."""

from __future__ import annotations

import pytest

from cosim.benches.packet.catalogue import BENCHES, PACKETS


def test_every_network_has_a_bench_with_its_shape() -> None:
    assert {bench.name: bench.shape for bench in BENCHES} == PACKETS


def test_both_kinds_of_routing_and_both_kinds_of_sides_are_there() -> None:
    assert len({shape.routing for shape in PACKETS.values()}) == 2
    assert {shape.torus for shape in PACKETS.values()} == {False, True}


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_messages_fit_the_addresses_and_queues_of_a_bench(bench) -> None:
    assert bench.shape.addresses > 1
    assert bench.shape.queue >= 1
    assert bench.design.name == bench.name
    assert bench.module == "packet.mesh"
