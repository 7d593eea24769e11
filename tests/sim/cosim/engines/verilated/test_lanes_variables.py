"""Variables of Verilator's class, and the arrays that stand for them."""

from __future__ import annotations

import pytest

from cosim.engines.verilated.lanes_variables import BYTES, LanesError, Variable, in_32_bits, variables_of


def header(*members: str) -> str:
    return "\n".join(["// DESIGN SPECIFIC STATE", *members, "// INTERNAL VARIABLES"])


@pytest.mark.parametrize(
    ("member", "variable"),
    [
        ("VL_IN8(clk,0,0);", Variable("clk", "uint8_t", bits=1)),
        ("VL_OUT16(q,11,0);", Variable("q", "uint16_t", bits=12)),
        ("VL_IN(d,31,0);", Variable("d", "uint32_t", bits=32)),
        ("VL_IN64(e,39,0);", Variable("e", "uint64_t", bits=40)),
        ("SData/*9:0*/ word;", Variable("word", "uint16_t", bits=10)),
        ("VlWide<3>/*95:0*/ wide;", Variable("wide", "uint32_t", words=3)),
        ("VlUnpacked<QData/*33:0*/, 7> ram;", Variable("ram", "uint64_t", bits=34, rows=7)),
        ("VlUnpacked<VlWide<4>/*127:0*/, 8> both;", Variable("both", "uint32_t", rows=8, words=4)),
    ],
)
def test_a_member_is_a_variable_of_its_size(member: str, variable: Variable) -> None:
    assert variables_of(header(f"    {member}")) == [variable]


def test_what_belongs_to_the_scheduling_of_events_stays_behind() -> None:
    members = ("struct {", "CData/*0:0*/ __VstlFirst;", "CData/*0:0*/ __Vactive;", "CData/*0:0*/ kept;", "};")
    assert [variable.name for variable in variables_of(header(*members, "VlTriggerVec<1> __VactTriggered;"))] == [
        "kept"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [("nothing", "the class has no state"), (header("double x;"), "a member of unknown kind: double x;")],
)
def test_what_is_not_known_is_refused(text: str, told: str) -> None:
    with pytest.raises(LanesError, match=f"^{told}$"):
        variables_of(text)


@pytest.mark.parametrize(
    ("variable", "declaration", "load", "store"),
    [
        (Variable("v", "uint8_t", bits=1), "uint8_t v[LANES];", "S.v[l] = root.v;", "root.v = S.v[l];"),
        (
            Variable("m", "uint16_t", bits=9, rows=4),
            "uint16_t m[4][LANES];",
            "for (int i = 0; i < 4; ++i) S.m[i][l] = root.m[i];",
            "for (int i = 0; i < 4; ++i) root.m[i] = S.m[i][l];",
        ),
        (
            Variable("b", "uint32_t", rows=4, words=2),
            "uint32_t b[4][2][LANES];",
            "for (int i = 0; i < 4; ++i) for (int j = 0; j < 2; ++j) S.b[i][j][l] = root.b[i][j];",
            "for (int i = 0; i < 4; ++i) for (int j = 0; j < 2; ++j) root.b[i][j] = S.b[i][j][l];",
        ),
    ],
)
def test_lanes_stand_innermost(variable: Variable, declaration: str, load: str, store: str) -> None:
    assert (variable.declaration.strip(), variable.load, variable.store) == (declaration, load, store)
    assert variable.dimensions == declaration.count("[") - 1


def test_a_memory_of_bits_and_a_value_in_halves_have_other_dimensions_here_and_there() -> None:
    bits = Variable("f", "uint32_t", rows=20, form="bits")
    assert (bits.dimensions, bits.declaration.strip()) == (0, "uint32_t f[LANES];")
    assert "i < 20" in bits.load
    assert "i < 20" in bits.store
    halves = Variable("h", "uint32_t", words=2, form="halves")
    assert (halves.dimensions, halves.declaration.strip()) == (1, "uint32_t h[2][LANES];")
    assert ">> 32 * j" in halves.load


@pytest.mark.parametrize("kind", BYTES)
def test_in_32_bits_a_value_is_cut_where_its_type_did_it(kind: str) -> None:
    full, some = Variable("v", kind, bits=8 * BYTES[kind]), Variable("v", kind, bits=3)
    if BYTES[kind] >= 4:
        assert in_32_bits(full) is full
        return
    assert in_32_bits(full).type == in_32_bits(some).type == "uint32_t"
    assert int(in_32_bits(full).cut.rstrip("U"), 16) == (1 << 8 * BYTES[kind]) - 1
    assert in_32_bits(some).cut == "", "nothing is above its bits"
