"""The benches of packet networks, with their designs."""

from __future__ import annotations

from functools import partial

from cosim.benches.bench import Bench, Design
from packet_router.shape import RouterShape

PACKETS = {
    "packet_2x2": RouterShape(size=(2, 2), routing="adaptive", channels=3, buffer=4, addresses=4, queue=4),
    "packet_ring": RouterShape(size=(3,), torus=True, buffer=4, addresses=4, queue=4),
}
"""Packet networks, by bench."""


def _packets(name: str) -> str:
    from emission import component_verilog
    from packet_router.mesh import Mesh

    return component_verilog(Mesh(shape=PACKETS[name], open_sides=True), "packet_mesh")


def _packet_bench(name: str, about: str) -> Bench:
    return Bench(name, "packet.mesh", PACKETS[name], Design(name, "packet_mesh", partial(_packets, name)), about)


BENCHES: tuple[Bench, ...] = (
    _packet_bench("packet_2x2", "packet routers, adaptive: random messages between four nodes"),
    _packet_bench("packet_ring", "packet routers in a ring: random messages in dimension order"),
)
