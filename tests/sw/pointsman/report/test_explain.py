"""What a program says: against sizes, extents and sets worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import networkx
import pytest

from pointsman.cop import compile_program, compile_text, stream
from pointsman.network import graph, mesh, torus
from pointsman.report.explain import explain_json, explain_text

MATMUL = """
(loop 'mul *xsize*
  (subset (make-1d 'x) (broadcast 'b (runtime) :m 225))
  (subset (make-1d 'y) (cshift 'c -1 :m 225 :c 3)))
"""
MATMUL_TEXT = """\
mul.cop on a 4x4 mesh: 16 nodes, 2 operators, 8 instances

sequential  (line 2)
│  extent all nodes; 3,600 words
└─ loop 'mul, 4 rounds  (line 2)
   │  mul_load
   │  extent all nodes; 3,600 words
   ├─ broadcast 'b  (line 3)
   │     directional: b_load, b_write, b_read
   │     extent all nodes; 225 × 1 × 4 = 900 words; type int32*
   │     on 0..3 | 4..7 | 8..11 | 12..15: source run-time
   └─ cshift 'c  (line 4)
         functional: c_load, c_func
         extent all nodes; 225 × 3 × 4 = 2,700 words; type int32*
         on 0..12 by 4 | 1..13 by 4 | 2..14 by 4 | 3..15 by 4: distance -1

no operators may run together: all are in sequence"""


def explain(text: str, *size: int) -> dict[str, Any]:
    return explain_json(compile_text(text, topology=mesh(*size)))


def find(plain: dict[str, Any], label: str) -> dict[str, Any]:
    stack = [plain["tree"]]
    for entry in stack:
        if entry.get("label") == label:
            return entry
        stack += entry.get("children", [])
    raise KeyError(label)


def test_text_of_a_program() -> None:
    assert explain_text(explain_json(compile_text(MATMUL, file="mul.cop", topology=mesh(4, 4)))) == MATMUL_TEXT


def test_traffic_is_length_times_calls_times_all_loops_around() -> None:
    plain = explain("(loop 'a 10 (barrier 'w) (loop 'b 7 (stream 's 0 1 :m 6 :c 2)) (stream 'u 0 1 :m 5))", 4)
    assert [find(plain, label)["traffic"] for label in ("s", "u", "w")] == [10 * 7 * 6 * 2, 50, 10]
    assert plain["tree"]["traffic"] == 840 + 50 + 10


@pytest.mark.parametrize(
    ("subset", "nodes", "box"),
    [
        ("(0 5)", 4, [[0, 1], [0, 1]]),
        ("(3 12)", 16, [[0, 3], [0, 3]]),
        ("(6 14)", 3, [[2, 2], [1, 3]]),
        ("(9)", 1, [[1, 1], [2, 2]]),
    ],
)
def test_extent_is_the_box_around_the_nodes(subset: str, nodes: int, box: list[list[int]]) -> None:
    assert find(explain(f"(subset '({subset}) (barrier 'w))", 4, 4), "w")["extent"] == {"nodes": nodes, "box": box}


def test_extents_of_instances_are_united_and_need_not_be_a_box() -> None:
    plain = explain("(subset '((0 1) (14 15)) (stream 's 0 1))", 4, 4)
    assert find(plain, "s")["extent"] == {"nodes": 4, "box": None}
    assert find(plain, "s")["nodes"] == 4


def test_extent_in_three_dimensions_and_on_a_torus() -> None:
    text = "(subset '((0 21)) (stream 's 0 1))"
    for network in (mesh(4, 4, 2), torus(4, 4, 2)):
        plain = explain_json(compile_text(text, topology=network))
        assert find(plain, "s")["extent"] == {"nodes": 8, "box": [[0, 1], [0, 1], [0, 1]]}


def test_a_graph_has_no_boxes() -> None:
    plain = explain_json(compile_program(stream("s", 0, 1), topology=networkx.petersen_graph()))
    assert find(plain, "s")["extent"] == {"nodes": 10, "box": None}
    assert "extent all nodes" in explain_text(plain)


def test_children_of_a_parallel_group_may_run_together() -> None:
    plain = explain("(parallel (broadcast 'io 0) (sequential (barrier 'a) (barrier 'b)) (stream 's 0 1))", 4)
    (entry,) = plain["together"]
    assert (entry["why"], entry["independent"]) == ("parallel", [])
    assert entry["sets"] == [[["io"], ["a", "b"], ["s"]]]
    assert "may be in use at the same time (parallel at line 1):\n  io | a b | s" in explain_text(plain)


FIGURE_6_2 = """({kind}
  (subset '(1 5 9 13) (cshift 'a 1))
  (subset '({b}) (broadcast 'b 3))
  (subset '({c}2 3 6 7 10 11 14 15) (stream 'c (runtime) (runtime))))"""


@pytest.mark.parametrize(
    ("kind", "b", "c", "independent"),
    [
        ("parallel", "0 4 8 12", "", [["a"], ["b"], ["c"]]),
        ("parallel", "0 4 8 12", "1 ", [["a", "c"], ["b"]]),
        ("parallel", "0 1 2 3", "", None),
        ("sequential", "0 4 8 12", "", [["a"], ["b"], ["c"]]),
        ("sequential", "0 4 8 12", "1 ", [["a"], ["b"]]),
        ("sequential", "0 1 2 3", "", None),
    ],
)
def test_disjoint_extents_are_independent_as_in_section_6_1_3(
    kind: str, b: str, c: str, independent: list[list[str]] | None
) -> None:
    together = explain(FIGURE_6_2.format(kind=kind, b=b, c=c), 4, 4)["together"]
    found = [sets for entry in together for sets in entry["independent"]]
    assert found == ([] if independent is None else [independent])


def test_run_time_values_and_options_are_named() -> None:
    text = """(prefix 'p 'f :valid '(0 2) :b *min* :pipelined t)
    (loop 'l 2 (stream 's 0 (runtime :dynamic t :values '(1 2 3) :block 5) :b 0.5 :impl 'str_stream))
    (permute 'q (runtime :distributed t)) (reduce 'r 1) (permute 'k '(3 1 0 2))"""
    shown = explain_text(explain(text, 4))
    for words in (
        "pipelined, bandwidth at most min, valid on 0 2",
        "function f",
        "destination run-time dynamic among 1..3 changes every 5 rounds",
        "bandwidth at most 0.5, implementation str_stream",
        "permutation run-time distributed",
        "function sum, destination 1",
        "permutation 3 1 0 2",
    ):
        assert words in shown


def test_parameters_and_schedule_length_are_named() -> None:
    shown = explain_text(explain("(parameter n 3) (define *schedlen* 64) (cshift 'c n)", 4))
    assert "parameters: n = 3\nschedule length: 64\n" in shown


def test_large_programs_stay_readable_and_small() -> None:
    plain = explain("(doall ((i (all *nodes*))) (stream 'xor i (logxor i 1)))", 32, 32)
    assert len(find(plain, "xor")["instances"]) == 1024
    assert plain["subsets"] == [list(range(1024))]
    assert len(json.dumps(plain)) < 300_000
    assert len(explain_text(plain)) < 2000
    assert "… and 1018 more" in explain_text(plain)


def test_every_part_has_its_place() -> None:
    plain = explain(MATMUL, 4, 4)
    assert [find(plain, label)["position"] for label in ("mul", "b", "c")] == ["<cop>:2:1", "<cop>:3:24", "<cop>:4:24"]


def test_a_network_without_sides_is_named_by_its_kind() -> None:
    plain = explain_json(compile_text("(barrier 'b)", file="b.cop", topology=graph(3, [(0, 1), (1, 2)])))
    assert explain_text(plain).startswith("b.cop on a graph: 3 nodes, 1 operator, 1 instance\n")
