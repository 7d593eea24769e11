"""The ways of nodes through the phases of threads."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.phase_tree import fold, leaves
from pointsman.plan.structure.structure import Structure, divided

FIGURE = """
(sequential (barrier 'A)
  (parallel
    (subset '(0 1) (sequential (barrier 'B) (barrier 'C) (barrier 'D) (barrier 'E)))
    (subset '(2 3) (sequential (barrier 'F) (barrier 'G) (barrier 'H))))
  (barrier 'I))
"""


def structure(text: str, *merged: str) -> tuple[Structure, list[str]]:
    """Children of sequences end phases, except before the operators ``merged``; and the labels of the phases."""
    program = compile_text(text, topology=mesh(5, 1))
    root = disjoint_tree(program)
    phases = fold(root, lambda part, i: part.children[i + 1].operators()[0].label not in merged)
    return divided(program, root, phases), [leaf.labels() for leaf in leaves(phases)]


def way(text: str, node: int, *merged: str) -> dict[str, set[str]]:
    made, labels = structure(text, *merged)
    names = {START: "start", END: "end", **dict(enumerate(labels))}
    return {names[a]: {names[b] for b in after} for a, after in made.graph_of(node).successors.items() if after}


def test_a_node_follows_its_own_thread_only() -> None:
    begin, rest = {"start": {"A,B,F"}}, {"E,H": {"I"}, "I": {"end"}}
    assert way(FIGURE, 0, "B") == {**begin, "A,B,F": {"C"}, "C": {"D"}, "D": {"E,H"}, **rest}
    assert way(FIGURE, 2, "B") == {**begin, "A,B,F": {"G"}, "G": {"E,H"}, **rest}


def test_a_node_in_no_thread_passes_them_by() -> None:
    assert way(FIGURE, 4, "B") == {"start": {"A,B,F"}, "A,B,F": {"I"}, "I": {"end"}}


def test_loops_of_one_thread_are_no_loops_of_the_other() -> None:
    text = "(parallel (subset '(0 1) (loop 'l 3 (barrier 'a) (barrier 'b))) (subset '(2 3) (barrier 'c) (barrier 'd)))"
    assert way(text, 0) == {"start": {"a,c", "end"}, "a,c": {"b,d"}, "b,d": {"a,c", "end"}}
    assert way(text, 3) == {"start": {"a,c"}, "a,c": {"b,d"}, "b,d": {"end"}}


def test_an_optional_thread_is_optional_for_its_own_nodes() -> None:
    text = """
    (parallel (subset '(0 1) (optional (barrier 'a) (barrier 'b) (barrier 'c)))
              (subset '(2 3) (barrier 'd) (barrier 'e) (barrier 'f)))
    """
    assert way(text, 1)["start"] == {"a,d", "end"}
    assert way(text, 2)["start"] == {"a,d"}


def test_disjoint_groups_in_one_phase_are_no_threads() -> None:
    made, _ = structure("(barrier 'z) (parallel (subset '(0 1) (barrier 'a)) (subset '(2 3) (barrier 'b)))")
    assert made.threads is None
    assert made.graph_of(0) is made.graph


def test_what_comes_next_is_told_by_node() -> None:
    made, labels = structure(FIGURE, "B")
    place = {label: i for i, label in enumerate(labels)}
    # Node 0 has no part in C: by its own way it comes from the first phase to D, and never past it.
    members = [place[name] for name in ("A,B,F", "D", "E,H", "I")]
    assert made.graph_of(0).next_among(place["A,B,F"], members) == {place["D"]: (place["C"],)}
    assert made.graph_of(4).next_among(place["A,B,F"], [place["A,B,F"], place["I"]]) == {place["I"]: ()}


def test_threads_within_threads() -> None:
    text = """
    (parallel
      (sequential
        (parallel (subset '(0) (sequential (barrier 'a) (barrier 'b) (barrier 'c)))
                  (subset '(1) (sequential (barrier 'd) (barrier 'e) (barrier 'f))))
        (subset '(0 1) (barrier 'g)))
      (subset '(3 4) (sequential (barrier 'h) (barrier 'i) (barrier 'j))))
    """
    assert way(text, 0)["start"] == {"a,d,h"}
    assert way(text, 0)["a,d,h"] == {"b"}
    assert way(text, 1)["a,d,h"] == {"e"}
    assert way(text, 3)["a,d,h"] == {"i"}
    assert way(text, 1)["c,f"] == {"g,j"}
    assert way(text, 4)["i"] == {"g,j"}
