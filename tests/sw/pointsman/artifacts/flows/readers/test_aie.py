"""Flows of mlir-aie."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.artifacts.flows.readers.aie import from_aie
from pointsman.errors import PointsmanError

TILES = ["%a = aie.tile(0, 0)", '  %b_1 = AIE.tile(2,3) {name = "x"}', "%c = aie.tile(1, 1)"]


def flows(*lines: str) -> set[tuple[str, tuple[str, ...], float]]:
    found = from_aie([*TILES, *lines])
    names = [task.name for task in found.tasks]
    return {(names[f.source], tuple(names[d] for d in f.destinations), f.bandwidth) for f in found.flows}


def test_flows_of_a_port_are_a_multicast_and_those_within_a_tile_are_left_out() -> None:
    assert flows(
        "aie.flow(%a, DMA : 0, %b_1, DMA : 1)",
        'AIE.flow(%a, "DMA" : 0, %c, "Core" : 0)  // as an old version writes it',
        "aie.flow(%a, DMA : 1, %a, Core : 0)",
        "aie.flow(%c, Core : 0, %a, DMA : 0)",
    ) == {("tile(0, 0)", ("tile(2, 3)", "tile(1, 1)"), 1.0), ("tile(1, 1)", ("tile(0, 0)",), 1.0)}


def test_packet_flows_over_several_lines_are_read() -> None:
    found = flows("aie.packet_flow(0x1) {", "  aie.packet_source<%a, DMA : 0>", "  aie.packet_dest<%c, Core : 0>", "}")
    assert found == {("tile(0, 0)", ("tile(1, 1)",), 1.0)}


def test_the_source_of_a_packet_flow_may_follow_its_destinations() -> None:
    found = flows(
        "aie.packet_flow(0x1) {",
        *(
            "  aie.packet_dest<%c, Core : 0>",
            "  aie.packet_dest<%b_1, Core : 0>",
            "  aie.packet_source<%a, DMA : 0>",
            "}",
        ),
        "aie.packet_flow(0x2) { aie.packet_dest<%a, Core : 0> aie.packet_source<%c, DMA : 0> }",
    )
    assert found == {("tile(0, 0)", ("tile(1, 1)", "tile(2, 3)"), 1.0), ("tile(1, 1)", ("tile(0, 0)",), 1.0)}


def test_each_source_of_a_packet_flow_sends_to_its_destinations() -> None:
    found = flows(
        "aie.packet_flow(1) { aie.packet_source<%a, A : 0> aie.packet_source<%b_1, A : 0> aie.packet_dest<%c, A : 1> }"
    )
    assert found == {("tile(0, 0)", ("tile(1, 1)",), 0.5), ("tile(2, 3)", ("tile(1, 1)",), 0.5)}


def test_flows_of_two_devices_are_not_added_up() -> None:
    one = ["aie.device(npu1) @one {", *TILES, "aie.flow(%a, DMA : 0, %c, DMA : 0)", "}"]
    packet = "aie.packet_flow(1) { aie.packet_source<%x, A : 0> aie.packet_dest<%y, A : 1> }"
    other = ["aie.device(npu1) @two {", "%x = aie.tile(3, 3)", "%y = aie.tile(3, 4)", "}"]
    assert len(from_aie([*one, *other]).flows) == 1
    with pytest.raises(PointsmanError, match=r"line 10: flows must be those of one aie\.device"):
        from_aie([*one, *other[:3], packet, "}"])
    with pytest.raises(PointsmanError, match="line 8: %a is no tile"):
        from_aie([*one, other[0], "aie.flow(%a, DMA : 0, %c, DMA : 0)", "}"])


def test_an_attribute_for_packets_is_passed_over() -> None:
    found = flows(
        "%d = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 4>}",
        "aie.dma_bd(%x : memref<8xi16>, 0, 8) {packet = #aie.packet_info<pkt_type = 1, pkt_id = 1>}",
        "aie.flow(%d, DMA : 0, %a, DMA : 0)",
    )
    assert found == {("tile(0, 2)", ("tile(0, 0)",), 1.0)}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("aie.packet_flow(1) { aie.packet_dest<%a, DMA : 0> }", "line 4: a packet flow must have a source"),
        ("aie.packet_source<%a, DMA>", "line 4: aie.packet_source is not known here"),
        ("aie.flow(%a, DMA : 0, %z, DMA : 0)", "line 4: %z is no tile"),
        ("aie.flow(%a, DMA, %c, DMA : 0)", "line 4: aie.flow is not known here"),
        ("aie.objectfifo @of0(%a, {%c}, 2 : i32)", "line 4: aie.objectfifo is not known here"),
        ("aie.connect<DMA : 0, North : 1>", "line 4: aie.connect is not known here"),
        ("aie.packet_dest<%a, DMA : 0>", "line 4: a packet_dest must stand in an aie.packet_flow"),
    ],
)
def test_what_moves_words_otherwise_is_refused_with_its_line(line: str, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        flows(line)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("aie.objectfifo.createObjectFifo(%a, {%c}, 2 : i32)", "lower the module"),
        ("%s = aie.switchbox(%a) {", "give the module as it was before"),
        ("aie.cascade_flow(%a, %c)", "take it out"),
        ("aie.flow(%a, DMA, %c, DMA : 0)", "a flow is written"),
        ("aie.packet_dest<%a>", "a packet flow is written"),
    ],
)
def test_a_refusal_says_what_to_do(line: str, hint: str) -> None:
    with pytest.raises(PointsmanError) as told:
        flows(line)
    assert hint in str(told.value.hint)


def test_the_example_has_a_multicast_and_a_packet_flow() -> None:
    text = (Path(__file__).parents[6] / "examples/formats/flows.mlir").read_text()
    assert sorted(len(flow.destinations) for flow in from_aie(text.splitlines()).flows) == [1, 2]


def test_a_module_that_is_cut_short_is_refused() -> None:
    lines = ["module {\n", "  // a comment {\n", '  %a = aie.tile(0, 0) {x = "}{{ \\" {//"} // }\n']
    lines += ["  %b = aie.tile(0, 1)\n", "  aie.flow(%a, DMA : 0, %b, DMA : 0)\n", "}\n"]
    assert len(from_aie(lines).flows) == 1
    with pytest.raises(PointsmanError, match=r"^line 5: here the file ends, with 1 \{ too many$"):
        from_aie(lines[:-1])
    with pytest.raises(PointsmanError, match=r"^line 7: here the file ends, with 1 \} too many$"):
        from_aie([*lines, "}\n"])


def test_flows_may_take_several_lines() -> None:
    lines = [
        "%a = aie.tile(0, 0) %b = aie.tile(\n",
        "  0, 1)\n",
        "aie.flow(%a, DMA : 0,  // a comment (\n",
        "  %b, DMA : 0\n",
        ")\n",
    ]
    assert [flow.destinations for flow in from_aie(lines).flows] == [(1,)]
    with pytest.raises(PointsmanError, match=r"^line 3: aie.flow is not known here"):
        from_aie(lines[:-1])
    with pytest.raises(PointsmanError, match=r"^line 6: %z is no tile"):
        from_aie([*lines, "aie.flow(%a, DMA : 1, %z, DMA : 0)\n"])
