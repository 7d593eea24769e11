"""Parts in place and apart: the same outputs; those apart are kept for emission."""

from __future__ import annotations

from amaranth.back import rtlil
from amaranth.hdl import Module, Signal

from tdm_switch.array import Turned, turned_members
from tdm_switch.parts import Parts


def test_a_part_apart_has_the_outputs_of_one_in_place_and_is_kept_for_emission() -> None:
    for apart in (False, True):
        m, parts = Module(), Parts(apart=apart)
        bits, start = Signal(5), Signal(3)
        given = {"bits": bits, "start": start}
        found = parts.place(m, "part", "turned", lambda: Turned(ports=5), turned_members(5), given)
        assert {name: len(signal) for name, signal in found.items()} == {"turned": 5}
        assert list(parts.makers) == (["turned"] if apart else [])
        text = rtlil.convert(m, ports=[bits, start, found["turned"]], name="whole", emit_src=False)
        assert r"cell \turned \part" in text if apart else r"module \whole.part" in text
