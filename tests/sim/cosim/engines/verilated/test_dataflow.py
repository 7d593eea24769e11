"""Which outputs follow which inputs, in statements as Verilator writes them."""

import pytest

from cosim.engines.verilated.dataflow import Promise, broken, followed

PROMISE = Promise(
    module="block",
    inputs=(("s__DOT__next_i", "i"), ("s__DOT__next_j", "j"), ("s__DOT__i", "i"), ("s__DOT__j", "j")),
    outputs=(("s__DOT__o", "o"), ("s__DOT__p", "p")),
    registered=True,
)
TAKEN = ["vlSelfRef.s__DOT__i = vlSelfRef.s__DOT__next_i;", "vlSelfRef.s__DOT__j = vlSelfRef.s__DOT__next_j;"]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([], {}),
        (["vlSelfRef.s__DOT__x = vlSelfRef.s__DOT__i;"], {}),
        (["vlSelfRef.s__DOT__o = vlSelfRef.s__DOT__r;"], {"o": set()}),
        (["vlSelfRef.s__DOT__x = (1U & vlSelfRef.s__DOT__i);", "vlSelfRef.s__DOT__o = (~ vlSelfRef.s__DOT__x);"], {"o": {"i"}}),
        # Before it is assigned, and after it was assigned anew, a variable carries nothing.
        (["vlSelfRef.s__DOT__o = x;", "x = vlSelfRef.s__DOT__i;"], {"o": set()}),
        (["x = vlSelfRef.s__DOT__i;", "x = 1U;", "vlSelfRef.s__DOT__o = x;"], {"o": set()}),
        # Conditions, also of what is assigned in another branch, and parts.
        (["if (vlSelfRef.s__DOT__i) { x = 1U; } else { vlSelfRef.s__DOT__o = 2U; }"], {"o": {"i"}}),
        (["x[0U] = vlSelfRef.s__DOT__i;", "x[1U] = 0U;", "vlSelfRef.s__DOT__o = x[0U];"], {"o": {"i"}}),
        (["vlSelfRef.s__DOT__o = vlSelfRef.m[vlSelfRef.s__DOT__j];", "vlSelfRef.s__DOT__p = vlSelfRef.s__DOT__i;"],
         {"o": {"j"}, "p": {"i"}}),
        (["if ((vlSelfRef.s__DOT__r == 1U)) {\n    x = vlSelfRef.s__DOT__j;\n    vlSelfRef.s__DOT__p = x;\n}"], {"p": {"j"}}),
    ],
)  # fmt: skip
def test_inputs_are_followed_to_outputs(statements: list[str], expected: dict[str, set[str]]):
    assert followed([*TAKEN, *statements], PROMISE) == expected


def test_what_is_broken_is_told():
    statements = ["vlSelfRef.s__DOT__o = (vlSelfRef.s__DOT__j & vlSelfRef.s__DOT__i);", "vlSelfRef.s__DOT__p = 0U;"]
    assert broken([*TAKEN, *statements], PROMISE) == ["o follows i, j"]
