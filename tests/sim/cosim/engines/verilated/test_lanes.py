"""Verilator's statements as loops over many blocks."""

import pytest

from cosim.engines.verilated.build import lanes_for
from cosim.engines.verilated.lanes import LanesError, lanes_header

HEADER = """
class Vmesh___024root final {
    // DESIGN SPECIFIC STATE
    struct {
        VL_IN8(clk,0,0);
        CData/*0:0*/ seat__DOT__flag;
        SData/*15:0*/ seat__DOT__word;
        QData/*39:0*/ seat__DOT__long;
        VlWide<3>/*95:0*/ seat__DOT__wide;
    };
    VlUnpacked<IData/*31:0*/, 4> seat__DOT__memory;
    VlUnpacked<VlWide<2>/*63:0*/, 8> seat__DOT__both;
    VlUnpacked<QData/*63:0*/, 1> __VactTriggered;

    // INTERNAL VARIABLES
    Vmesh__Syms* const vlSymsp;
};
"""
TRIGGERS = """
VL_ATTR_COLD void Vmesh___024root___dump_triggers__act(const VlUnpacked<QData/*63:0*/, 1> &triggers) {
    // Body
        VL_DBG_MSGS("         '" + tag + "' region trigger index 0 is active: @(edge port_clk)\\n");
        VL_DBG_MSGS("         '" + tag + "' region trigger index 1 is active: @(posedge clk)\\n");
}
"""
SOURCE = """
void Vmesh___024root___nba_sequent__TOP__0(Vmesh___024root* vlSelf) {
    // Locals
    IData/*31:0*/ __Vtemp_1;
    VlWide<3>/*95:0*/ __Vtemp_2;
    // Body
    BODY
}

void Vmesh___024root___eval_nba(Vmesh___024root* vlSelf) {
    // Body
    if ((2ULL & vlSelfRef.__VnbaTriggered[0U])) {
        Vmesh___024root___nba_sequent__TOP__0(vlSelf);
    }
    if ((1ULL & vlSelfRef.__VnbaTriggered[0U])) {
        vlSelfRef.seat__DOT__word = 7U;
    }
    if ((3ULL & vlSelfRef.__VnbaTriggered[0U])) {
        vlSelfRef.seat__DOT__flag = (1U & (IData)(vlSelfRef.seat__DOT__word));
    }
}
"""


def translate(body: str, *, even: bool = False, seen: set[str] | None = None) -> str:
    source = SOURCE.replace("BODY", body)
    return lanes_header(HEADER, source, TRIGGERS, "@(edge port_clk)", "@(posedge clk)", even=even, seen=seen)


def function(text: str, name: str) -> str:
    return text.split(f"static void {name}(Lanes& __restrict S) {{\n")[1].split("\n}")[0]


def clocked(text: str) -> list[str]:
    """Lines of what the clock's edge does in the function of the block."""
    return [line.strip() for line in function(text, "lanes_cycle").rpartition("    {\n")[2].splitlines()[:-1]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("vlSelfRef.seat__DOT__word = 3U;", "S.seat__DOT__word[l] = 3U;"),
        ("__Vtemp_1 = (IData)(vlSelfRef.seat__DOT__long);", "__Vtemp_1[l] = (IData)(S.seat__DOT__long[l]);"),
        ("__Vtemp_2[1U] = vlSelfRef.seat__DOT__wide[2U];", "__Vtemp_2[1U][l] = S.seat__DOT__wide[2U][l];"),
        (
            "vlSelfRef.seat__DOT__memory[vlSelfRef.seat__DOT__flag] = __Vtemp_1;",
            "S.seat__DOT__memory[S.seat__DOT__flag[l]][l] = __Vtemp_1[l];",
        ),
        (
            "__Vtemp_1 = vlSelfRef.seat__DOT__both\n  [vlSelfRef.seat__DOT__flag][1U];",
            "__Vtemp_1[l] = S.seat__DOT__both[S.seat__DOT__flag[l]][1U][l];",
        ),
        (
            "if (vlSelfRef.seat__DOT__flag) { __Vtemp_1 = 1U; } else { __Vtemp_1 = 2U; }",
            "if (S.seat__DOT__flag[l]) { __Vtemp_1[l] = 1U; } else { __Vtemp_1[l] = 2U; }",
        ),
    ],
)
def test_every_variable_gets_the_index_of_the_lane(statement: str, expected: str):
    assert clocked(translate(statement))[-1] == f"for (int l = 0; l < LANES; ++l) {{ {expected} }}"


def test_a_cycle_is_what_depends_on_the_inputs_and_then_the_clocks_edge():
    text = translate("vlSelfRef.seat__DOT__word = 3U;")
    linked, cycle = function(text, "lanes_link"), function(text, "lanes_cycle")
    assert "S.seat__DOT__word[l] = 7U" in linked
    assert "S.seat__DOT__flag[l] = (1U & (IData)(S.seat__DOT__word[l]))" in linked
    assert "S.seat__DOT__word[l] = 3U" not in linked
    assert cycle.startswith(linked)
    assert clocked(text)[-1] == "for (int l = 0; l < LANES; ++l) { S.seat__DOT__word[l] = 3U; }"


OWN = """
void Vmesh___024root___eval_nba(Vmesh___024root* vlSelf) {
    // Locals
    CData/*0:0*/ __Vinline_next;
    __Vinline_next = 0;
    // Body
    if ((2ULL & vlSelfRef.__VnbaTriggered[0U])) {
        __Vinline_next = vlSelfRef.seat__DOT__flag;
        if (vlSelfRef.seat__DOT__word) { __Vinline_next = 1U; }
        vlSelfRef.seat__DOT__flag = __Vinline_next;
    }
    if ((1ULL & vlSelfRef.__VnbaTriggered[0U])) {
        vlSelfRef.seat__DOT__word = 7U;
    }
}
"""


def test_statements_of_the_evaluation_itself_share_its_variables():
    """Verilator puts the functions of small blocks there; refusing them would build these in the slow way."""
    text = lanes_header(HEADER, OWN, TRIGGERS, "@(edge port_clk)", "@(posedge clk)", seen=set())
    cycle = function(text, "lanes_cycle")
    assert cycle.count("uint8_t __Vinline_next[LANES];") == 1
    declaration, first, second, third = (
        cycle.index(part)
        for part in (
            "uint8_t __Vinline_next[LANES];",
            "__Vinline_next[l] = S.seat__DOT__flag[l];",
            "{ __Vinline_next[l] = 1U; }",
            "S.seat__DOT__flag[l] = __Vinline_next[l];",
        )
    )
    assert declaration < first < second < third
    assert "{" not in cycle[:declaration], "all of them see it"


def test_a_variable_of_the_evaluation_cannot_go_from_one_half_of_the_cycle_to_the_other():
    source = OWN.replace("__DOT__word = 7U", "__DOT__word = __Vinline_next")
    with pytest.raises(LanesError, match="__Vinline_next goes from one half of the cycle to the other"):
        lanes_header(HEADER, source, TRIGGERS, "@(edge port_clk)", "@(posedge clk)")


def test_reads_of_memories_stand_before_the_statement_and_conditional_writes_apart():
    text = translate(
        "if (vlSelfRef.seat__DOT__flag) { vlSelfRef.seat__DOT__memory[1U]"
        " = vlSelfRef.seat__DOT__memory[(3U & vlSelfRef.seat__DOT__word)]; }"
    )
    assert clocked(text)[-7:] == [
        "uint32_t __on[LANES], __row[LANES]; uint32_t __word[LANES];",
        "uint32_t __at_0[LANES]; uint32_t __read_0[LANES];",
        "for (int l = 0; l < LANES; ++l) { __at_0[l] = ((3U & S.seat__DOT__word[l])) & 3U; }",
        "lanes_read(__read_0, S.seat__DOT__memory, __at_0);",
        "for (int l = 0; l < LANES; ++l) { __on[l] = S.seat__DOT__flag[l]; __row[l] = 1U; __word[l] = __read_0[l]; }",
        "lanes_write(S.seat__DOT__memory, __on, __row, __word);",
        "}",
    ]


def test_what_a_cycle_assigns_before_it_uses_it_is_not_kept_unless_somebody_looks():
    body = "vlSelfRef.seat__DOT__long = 3U; __Vtemp_1 = vlSelfRef.seat__DOT__long;"
    kept = "uint64_t seat__DOT__long[LANES];"
    for text in (translate(body), translate(body, seen={"seat__DOT__long"})):
        assert kept in text.partition("};")[0]
    text = translate(body, seen=set())
    assert kept not in text.partition("};")[0]
    assert kept in function(text, "lanes_cycle")
    assert "S.seat__DOT__long" not in text
    # One that keeps its value under a condition is state, and so is one that is used before.
    for body in (
        "if (vlSelfRef.seat__DOT__flag) { vlSelfRef.seat__DOT__long = 3U; }",
        "__Vtemp_1 = vlSelfRef.seat__DOT__long; vlSelfRef.seat__DOT__long = 3U;",
        "vlSelfRef.seat__DOT__long = (1U + vlSelfRef.seat__DOT__long);",
    ):
        assert kept in translate(body, seen=set()).partition("};")[0]


def test_variables_become_arrays_and_the_scheduler_of_verilator_stays_behind():
    text = translate("vlSelfRef.seat__DOT__word = 3U;")
    assert "uint16_t seat__DOT__word[LANES];" in text
    assert "uint32_t seat__DOT__wide[3][LANES];" in text
    assert "uint32_t seat__DOT__both[8][2][LANES];" in text
    assert "__VactTriggered" not in text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("vlSelfRef.seat__DOT__word = (~ 3U);", "S.seat__DOT__word[l] = 0xffffU & ( (~ 3U));"),
        ("vlSelfRef.seat__DOT__flag = 1U;", "S.seat__DOT__flag[l] = 1U;"),
        (
            "if ((3U == vlSelfRef.seat__DOT__word)) { vlSelfRef.seat__DOT__word = 1U; }",
            "if ((3U == S.seat__DOT__word[l])) { S.seat__DOT__word[l] = 0xffffU & ( 1U); }",
        ),
        (
            "if ((vlSelfRef.seat__DOT__word == 3U)) { vlSelfRef.seat__DOT__flag = 1U; }",
            "if ((S.seat__DOT__word[l] == 3U)) { S.seat__DOT__flag[l] = 1U; }",
        ),
    ],
)
def test_even_variables_have_32_bits_and_are_cut_where_their_type_did_it(statement: str, expected: str):
    text = translate(statement, even=True)
    assert clocked(text)[-1] == f"for (int l = 0; l < LANES; ++l) {{ {expected} }}"
    for name in ("flag", "word"):
        assert f"uint32_t seat__DOT__{name}[LANES];" in text
    assert "uint64_t seat__DOT__long[LANES];" in text


@pytest.mark.parametrize(
    ("blocks", "lanes"), [(1, 16), (16, 16), (17, 16), (48, 16), (49, 64), (64, 64), (65, 16), (128, 64), (1024, 64)]
)
def test_no_lanes_are_empty_that_fewer_would_fill(blocks: int, lanes: int):
    assert lanes_for(blocks, long_vectors=False) == lanes


def test_with_long_vectors_few_lanes_fill_one():
    assert {lanes_for(blocks, long_vectors=True) for blocks in (1, 16, 64, 1024)} == {16}


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("while (1U) { __Vtemp_1 = 1U; }", "a statement of unknown kind"),
        ("VL_ASSIGN_W(96, vlSelfRef.seat__DOT__wide, __Vtemp_2);", "a word of unknown meaning: VL_ASSIGN_W"),
        ("__Vtemp_1 = vlSelfRef.seat__DOT__memory;", "is used as a whole"),
        ("__Vtemp_1 = vlSelfRef.no_such;", "an unknown member: no_such"),
    ],
)
def test_what_is_not_known_is_refused(statement: str, problem: str):
    with pytest.raises(LanesError, match=problem):
        translate(statement)
