"""Parts in place and apart: the same outputs; those apart are kept for emission."""

from __future__ import annotations

from amaranth.back import rtlil
from amaranth.hdl import Module, Signal

from tdm_switch.array import Turned, turned_members
from tdm_switch.parts import Parts
from tdm_switch.shape import SwitchShape
from tdm_switch.switch import Switch

WORDS_OF_CPP = {
    "new",
    "delete",
    "this",
    "register",
    "class",
    "operator",
    "template",
    "private",
    "public",
    "export",
    "friend",
}


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


def test_no_port_of_a_part_is_a_word_of_cpp() -> None:
    # Verilator warns of such a name as soon as a switch is so large that its parts stay modules, and then stops.
    parts = Parts(apart=True)
    rtlil.convert(Switch(shape=SwitchShape(ports=2, slots=2), parts=parts), name="switch", emit_src=False)
    made = {name: make() for name, make in parts.makers.items()}
    for name, part in made.items():
        rtlil.convert(part, name=name, emit_src=False)
    names = {name for part in made.values() for name in part.signature.members}
    assert {"stays", "grant", "p_full"} <= names
    assert not names & WORDS_OF_CPP
