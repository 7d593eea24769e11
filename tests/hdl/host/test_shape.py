"""Addresses of a bridge: all different, aligned, within the address bits."""

from __future__ import annotations

import pytest

from host.shape import CONTROL, HostShape, HostShapeError


@pytest.mark.parametrize("nodes", [1, 3, 16])
@pytest.mark.parametrize("registers", [1, 5, 16, 40, 256])
@pytest.mark.parametrize("width", [32, 64])
def test_every_address_is_one_things(nodes: int, registers: int, width: int) -> None:
    shape = HostShape(nodes=nodes, registers=registers, width=width)
    found = [shape.register(node, register) for node in range(nodes) for register in range(registers)]
    for node in range(nodes):
        for word in range(shape.flag_words):
            found += [shape.full(node, word), shape.mask(node, word)]
    found += [shape.control(name) for name in CONTROL]
    assert len(set(found)) == len(found)
    assert all(address % (width // 8) == 0 for address in found)
    assert max(found) < 1 << shape.address_bits


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"nodes": 0}, "nodes must be 1 to 4096, not 0"),
        ({"registers": 257}, "registers must be 1 to 256, not 257"),
        ({"width": 24}, "width must be 32 or 64, as the bus has it, not 24"),
        ({"blocked": "never"}, "blocked must be stall or error, not 'never'"),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes: dict, message: str) -> None:
    with pytest.raises(HostShapeError, match=message):
        HostShape(**sizes)
