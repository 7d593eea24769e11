"""The soak of everything finds what it is for, its programs cover the language, and a small one is clean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from loading import module_at
from pointsman.cop import compile_text
from pointsman.program.catalogue import OPERATORS
from pointsman.runtime.reference import ReferenceMachine

soak = module_at(Path(__file__).with_name("soak_everything.py"))
SMALL_NETWORKS = {
    "numesh": (
        "1x1",
        "1x2",
        "2x1",
        "2x2",
        "3x1",
        "2x2",
        "1x4",
        "2x3",
        "3x3",
        "6x1",
        "2x2x2",
        "torus:4",
        "3x3-4",
        "4x2-1.5",
    ),
    "tdm": ("1x1", "1x2", "2x2", "3x1", "2x3", "4x2", "3x3"),
    "packet": ("1x1", "1x2", "2x2", "3x1", "1x4", "2x3", "3x3", "2x2x2", "torus:4", "diamond:2", "3x3-4", "4x2-1.5"),
}
"""Where the small soak runs."""
BLOCK = 20
BLOCKS = [("numesh", k) for k in range(10)] + [("tdm", k) for k in range(3)] + [("packet", k) for k in range(2)]
"""Programs of a test, and the tests: 300 programs."""
# fmt: off
LONG = (0, 1, 4, 5, 6, 7, 9, 15, 16, 17, 18, 21, 22, 23, 24, 28, 29, 30, 31, 38, 40, 49, 52, 54, 55, 57, 58, 60, 61,
        62, 64, 71, 77, 78, 80, 81, 84, 87, 89, 95, 98, 99, 101, 104, 108, 109, 111, 115, 118, 119, 122, 124, 127,
        129, 130, 131, 132, 134, 135, 136, 138, 141, 142, 143, 144, 151, 152, 153, 155, 159, 160, 161, 163, 164, 168,
        172, 176, 179, 182, 186, 187, 188, 189, 191, 194, 196, 199, 202, 203, 205, 206, 207, 208, 209, 213, 215, 217,
        218, 223, 224, 227, 228, 229, 230, 231, 234, 235, 238, 239, 244, 245, 247, 249, 253, 254, 255, 257, 261, 263,
        266, 267, 268, 275, 276, 280, 281, 285, 286, 295, 300, 301, 305, 307, 314, 316, 321, 325, 328, 330, 331)
# fmt: on
"""Seeds of programs that take numesh more than 0.4 seconds."""
SEEDS: dict[str, list[int]] = {
    "numesh": [seed for seed in range(340) if seed not in LONG],
    "tdm": list(range(60)),
    "packet": list(range(40)),
}
KNOWN: dict[str, tuple[int, ...]] = {
    "numesh": (),
    "tdm": (),
    "packet": (),
}
"""Seeds of programs of which it is known that they go wrong."""
SMALL = ("1x1", "2x1", "2x2", "1x3", "3x2")


@pytest.mark.parametrize("path", sorted(soak.KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_what_went_wrong_once_goes_well(path: Path):
    outcome = soak.run_case(soak.kept(path))
    assert outcome.kind == "ok", outcome.message


def small_case(seed: int, target: str) -> Any:
    return soak.case_of(seed, target, SMALL_NETWORKS[target], words=2_000, operators=(1, 1, 2, 2, 3))


def has(seeds: Iterable[int]) -> set[object]:
    """Networks, kinds, types and groups of programs for numesh."""
    found: set[object] = set()
    for seed in seeds:
        case = small_case(seed, "numesh")
        program = compile_text(case.text, topology=soak.network_named(case.network))
        found |= {case.network, *(group for group in soak.GROUPS if f"({group}" in case.text)}
        found |= {pair for o in program.operators() for pair in (o.kind, o.type.name)}
    return found


def test_three_hundred_are_run_and_have_what_the_first_have():
    assert sum(map(len, SEEDS.values())) == len(BLOCKS) * BLOCK == 300
    assert has(SEEDS["numesh"]) == has(range(200)) >= {*OPERATORS, *SMALL_NETWORKS["numesh"]}


@pytest.mark.long
@pytest.mark.parametrize(("target", "block"), BLOCKS)
def test_small_programs_mean_on_every_target_what_they_mean(target: str, block: int):
    wrong = []
    for seed in SEEDS[target][BLOCK * block : BLOCK * (block + 1)]:
        if seed in KNOWN[target]:
            continue
        case = small_case(seed, target)
        outcome = soak.run_case(case)
        if outcome.kind != "ok":
            wrong.append(f"{seed} on {case.network}: {outcome.kind}, {outcome.message}\n{case.text}")
    assert not wrong, "\n".join(wrong)


def test_every_program_is_legal_and_together_they_have_everything():
    kinds, words, seen = set(), set(), set()
    for seed in range(400):
        case = soak.case_of(seed)
        program = compile_text(case.text, topology=soak.network_named(case.network))
        kinds |= {operator.kind for operator in program.operators()}
        words |= {operator.m for operator in program.operators()}
        marks = (
            ":distributed",
            ":dynamic",
            ":values",
            ":valid",
            ":block",
            "(optional",
            "(loop",
            "(phase",
            "(doall",
            "(grid",
        )
        marks += (
            "(transpose",
            "(bitreverse",
            "(bistream",
            "'left",
            "'matrices",
            "int64*",
            "float32",
            "(parallel (subset",
        )
        seen |= {mark for mark in marks if mark in case.text}
    assert kinds == set(OPERATORS)
    assert {1, 2, 2000} <= words
    assert seen == set(marks)


def test_programs_that_ask_for_implementations_are_the_same_but_for_that():
    asked = set()
    for seed in range(120):
        plain, asking = (soak.case_of(seed, asking=one) for one in (False, True))
        found = re.findall(r" :impl '(\w+)", asking.text)
        assert ":impl" not in plain.text
        assert re.sub(r" :impl '\w+", "", asking.text) == plain.text
        compile_text(asking.text, topology=soak.network_named(asking.network))
        asked |= set(found)
    assert len(asked) > 40


def test_what_nodes_do_is_right_by_the_reference_machine():
    for seed in range(500, 540):
        case = soak.case_of(seed, "numesh", SMALL, words=2_000)
        program = compile_text(case.text, topology=soak.network_named(case.network))
        walker = soak.Walker(program, seed, fewer=True, late=False)
        assert ReferenceMachine(program, "soak", soak.FUNCTIONS).run(walker.main).unread == ()


def test_a_word_that_is_changed_is_found_and_the_program_shrunk(monkeypatch: pytest.MonkeyPatch):
    text = "(barrier 'a)\n(loop 'l 3 (broadcast 'b 0 :m 9) (sequential (barrier 'c)))"
    case = soak.Case(1, "2x1", text, 60)
    assert soak.run_case(case).kind == "ok"
    plain = soak.run_nodes

    def wrong(nodes: Any, main: Any, machine: Any, **more: Any) -> Any:
        record = plain(nodes, main, machine, **more)
        for received in record.results:
            for _, _, words in received:
                words[-1] ^= 1
        return record

    monkeypatch.setattr(soak, "run_nodes", wrong)
    outcome = soak.run_case(case)
    assert (outcome.kind, outcome.message[:15]) == ("wrong", "node 1 received")
    assert soak.shrink(case) == soak.Case(1, "2x1", "(broadcast 'b 0)", 0)


def test_outcomes_have_classes():
    assert soak.run_case(soak.Case(0, "2x1", "(broadcast 'b 7)")).kind == "illegal"
    text = "(broadcast 'a 0 :m 20 :impl 'str_barrier)"
    assert soak.run_case(soak.Case(0, "2x1", text)).kind in ("illegal", "refused")
    assert soak.run_case(soak.Case(0, "2x1", "(loop 'l 5 (barrier 'b))"), seconds=0.001).kind == "slow"


def test_it_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        soak, "run_case", lambda case, engine: soak.Outcome("refused", f"node {case.seed} is in the way")
    )
    state, folder = tmp_path / "state.json", tmp_path / "cases"
    arguments = ["--target", "numesh", "--state", str(state), "--folder", str(folder)]
    assert soak.main([*arguments, "--cases", "2"]) == 1
    assert soak.main([*arguments, "--cases", "3"]) == 1
    done = json.loads(capsys.readouterr().out.splitlines()[-1])["targets"][0]
    assert (done["cases"], done["faults"]) == (3, {"refused": [0, 1, 2]})
    assert done["reasons"] == {"refused": {"node N is in the way": 3}}
    assert soak.kept(folder / "numesh" / "refused" / "numesh_2.json") == soak.case_of(2)
