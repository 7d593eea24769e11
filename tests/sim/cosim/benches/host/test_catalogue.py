"""The benches of the bridges."""

from __future__ import annotations

from cosim.benches.host.catalogue import BENCHES


def test_both_buses_are_run_with_and_without_waiting() -> None:
    runs = {(bench.module, bench.shape.blocked) for bench in BENCHES}
    buses = {(f"host.{bus}", blocked) for bus in ("axi_lite", "wishbone") for blocked in ("stall", "error")}
    assert runs == buses | {("host.streams", "stall")}


def test_registers_that_are_no_power_of_two_and_several_words_of_flags_are_among_them() -> None:
    assert any(bench.shape.registers & (bench.shape.registers - 1) for bench in BENCHES)
    assert {bench.shape.width for bench in BENCHES} == {32, 64}
