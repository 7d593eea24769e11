"""Values of 64 bits in halves, and memories of bits: the compiler is the judge of what statements mean."""

import random
import subprocess
from pathlib import Path

import pytest

from cosim.engines.verilated.build import find_compiler
from cosim.engines.verilated.lanes_narrow import narrowed
from cosim.engines.verilated.lanes_variables import Variable

WIDE = ("a", "b", "c")
NARROW = ("x", "y", "z")
VARIABLES = [
    *(Variable(name, "uint64_t", bits=bits) for name, bits in zip(WIDE, (35, 64, 33), strict=True)),
    *(Variable(name, "uint32_t", bits=32) for name in NARROW),
    Variable("m", "uint8_t", bits=1, rows=32),
    Variable("n", "uint8_t", bits=1, rows=5),
    Variable("words", "uint32_t", bits=7, rows=32),
]


def forms(body: str, seen: frozenset[str] = frozenset()) -> tuple[str, dict[str, str]]:
    (text,), variables = narrowed([body], VARIABLES, seen)
    return text, {variable.name: variable.form for variable in variables if variable.form != "plain"}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("vlSelfRef.x = (IData)(vlSelfRef.a);", "vlSelfRef.x = vlSelfRef.a[0U];"),
        (
            "vlSelfRef.x = (IData)((vlSelfRef.a \n >> 0x0000001fU));",
            "vlSelfRef.x = ((vlSelfRef.a[0U] >> 31U) | (vlSelfRef.a[1U] << 1U));",
        ),
        ("vlSelfRef.x = (IData)((vlSelfRef.a >> 0x22U));", "vlSelfRef.x = (vlSelfRef.a[1U] >> 2U);"),
        ("vlSelfRef.a = vlSelfRef.b;", "vlSelfRef.a[0U] = vlSelfRef.b[0U]; vlSelfRef.a[1U] = vlSelfRef.b[1U];"),
    ],
)
def test_a_value_of_64_bits_becomes_two_words(statement: str, expected: str):
    text, found = forms(statement)
    assert text == expected
    assert found["a"] == "halves"


@pytest.mark.parametrize(
    "statement",
    [
        "vlSelfRef.a = (vlSelfRef.a << 1U);",
        "vlSelfRef.a = (vlSelfRef.b + vlSelfRef.c);",
        "vlSelfRef.a = (~ vlSelfRef.a);",
        "vlSelfRef.x = VL_REDXOR_64(vlSelfRef.a);",
        "vlSelfRef.a = __Vtemp_1;",
        "vlSelfRef.a = vlSelfRef.b & vlSelfRef.c | vlSelfRef.b;",
    ],
)
def test_a_value_with_any_other_use_stays(statement: str):
    text, found = forms(f"{statement} vlSelfRef.x = (IData)(vlSelfRef.a);")
    assert "a" not in found
    assert text == f"{statement} vlSelfRef.x = (IData)(vlSelfRef.a);"


def test_what_is_copied_from_a_value_that_stays_stays_too():
    _, found = forms("vlSelfRef.a = vlSelfRef.b; vlSelfRef.b = (vlSelfRef.c + 1ULL);")
    assert not {"a", "b", "c"} & set(found)


def test_what_is_seen_stays():
    _, found = forms("vlSelfRef.x = vlSelfRef.m[3U];", frozenset({"a", "m"}))
    assert found == {"b": "halves", "c": "halves", "n": "bits"}


def _wide(chance: random.Random, depth: int) -> str:
    """An expression of 64 bits as Verilator writes them."""
    if depth == 0:
        return chance.choice(
            [
                f"(QData)((IData)({_narrow(chance)}))",
                f"(QData)((IData)({_narrow(chance)}))",
                f"vlSelfRef.{chance.choice(WIDE[1:])}",
                f"0x{chance.getrandbits(40):016x}ULL",
                f"(- (QData)((IData)({_narrow(chance)})))",
            ]
        )
    one, other = _wide(chance, depth - 1), _wide(chance, depth - 1)
    return chance.choice(
        [
            f"({one} | {other})",
            f"({one} & {other})",
            f"({one} ^ {other})",
            f"({one} << 0x00000020U)",
            f"({one} >> 32U)",
            f"(~ {one})",
            f"(({_narrow(chance)}) ? {one} : {other})",
        ]
    )


def _narrow(chance: random.Random) -> str:
    name = f"vlSelfRef.{chance.choice(NARROW)}"
    return chance.choice(
        [
            name,
            f"({chance.randrange(4)}U == (3U & {name}))",
            f"(1U & (IData)((vlSelfRef.{chance.choice(WIDE[1:])} >> {chance.randrange(64)}U)))",
            f"(IData)(vlSelfRef.{chance.choice(WIDE[1:])})",
            f"vlSelfRef.m[(0x1fU & {name})]",
            f"vlSelfRef.n[({name} % 5U)]",
        ]
    )


def _body(chance: random.Random) -> str:
    lines = []
    for _ in range(3):
        lines.append(f"vlSelfRef.a = {_wide(chance, chance.randrange(4))};")
        lines.append(f"if (({_narrow(chance)})) {{ vlSelfRef.m[(0x1fU & vlSelfRef.y)]\n = (1U & {_narrow(chance)}); }}")
        lines.append(f"vlSelfRef.n[(vlSelfRef.z % 5U)] = (1U & {_narrow(chance)});")
        lines.append(f"vlSelfRef.x = (IData)((vlSelfRef.a >> {chance.randrange(64)}U));")
        lines.append("vlSelfRef.b = vlSelfRef.a;")
    return "\n".join(lines)


JUDGE = """
#include <cstdint>
#include <cstdio>
#include <random>
#define QData uint64_t
#define IData uint32_t
struct Plain { uint64_t a, b, c; uint32_t x, y, z; uint8_t m[32], n[5]; };
struct Narrow { uint32_t a[2], b[2], c[2]; uint32_t x, y, z; uint32_t m, n; };
FUNCTIONS
int main() {
    std::mt19937_64 chance{1};
    void (*const plain[])(Plain&) = {PLAIN};
    void (*const narrow[])(Narrow&) = {NARROW};
    for (int k = 0; k < COUNT; ++k)
        for (int turn = 0; turn < 200; ++turn) {
            Plain p{chance(), chance(), chance() >> 31, uint32_t(chance()), uint32_t(chance()), uint32_t(chance()), {}, {}};
            if (turn % 2) p.x &= 1, p.y &= 3, p.z &= 7;
            Narrow q{{uint32_t(p.a), uint32_t(p.a >> 32)}, {uint32_t(p.b), uint32_t(p.b >> 32)},
                     {uint32_t(p.c), uint32_t(p.c >> 32)}, p.x, p.y, p.z, uint32_t(chance()), uint32_t(chance()) & 31};
            for (int r = 0; r < 32; ++r) p.m[r] = q.m >> r & 1;
            for (int r = 0; r < 5; ++r) p.n[r] = q.n >> r & 1;
            plain[k](p), narrow[k](q);
            bool same = p.x == q.x && p.a == (uint64_t(q.a[1]) << 32 | q.a[0]) && p.b == (uint64_t(q.b[1]) << 32 | q.b[0]);
            for (int r = 0; r < 32; ++r) same &= p.m[r] == (q.m >> r & 1);
            for (int r = 0; r < 5; ++r) same &= p.n[r] == (q.n >> r & 1);
            if (!same || q.n >> 5) return std::printf("case %d differs\\n", k), 1;
        }
    std::puts("equal");
}
"""


@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_statements_in_both_forms_do_the_same(tmp_path: Path):
    """Random statements of all forms that Verilator was seen to write, both compiled, on random values."""
    chance = random.Random(5)
    functions, split = [], 0
    count = 60
    for k in range(count):
        body = _body(chance)
        text, found = forms(body)
        assert found == {"a": "halves", "b": "halves", "c": "halves", "m": "bits", "n": "bits"}
        split += text.count("[1U] =")
        functions.append(f"void plain_{k}(Plain& vlSelfRef) {{\n{body}\n}}")
        functions.append(f"void narrow_{k}(Narrow& vlSelfRef) {{\n{text}\n}}")
    assert split >= 6 * count
    source = JUDGE.replace("FUNCTIONS", "\n".join(functions)).replace("COUNT", str(count))
    for name in ("plain", "narrow"):
        source = source.replace(f"{{{name.upper()}}}", "{" + ", ".join(f"{name}_{k}" for k in range(count)) + "}")
    path = tmp_path / "judge.cpp"
    path.write_text(source)
    compiler = find_compiler()
    assert compiler is not None
    subprocess.run([*compiler, "-std=c++17", "-w", "-O1", str(path), "-o", str(tmp_path / "judge")], check=True)
    assert subprocess.run([tmp_path / "judge"], capture_output=True, text=True, check=False).stdout == "equal\n"
