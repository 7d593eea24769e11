"""Phases that end by messages, and words that pass through nodes that may have left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan import polish
from pointsman.plan.candidates import candidates
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import closing as phase_ends
from pointsman.plan.structure.structure import outline
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def images(subset: str, monkeypatch: pytest.MonkeyPatch) -> Images:
    """Broadcasts in a line of four, closed by messages whatever the planner thinks of it; and something after it."""
    monkeypatch.setattr(candidates, "divisions", lambda analysis, *_, **__: [outline(analysis.program)])
    monkeypatch.setattr(polish.Polish, "run", lambda _: None)
    monkeypatch.setattr(phase_ends, "why_not_loose", lambda *_: None)
    only = [one for one in IMPLEMENTATIONS if one.name in ("str_bcast", "str_stream", "str_barrier_tree")]
    text = f"(subset '({subset}) (broadcast 'b 0 :m 64)) (subset '((0 4) (1 5) (2 6) (3 7)) (stream 'z 0 1))"
    program = compile_text(text, topology=mesh(4, 2))
    made = make_images(make_plan(program, NodeShape(), name="test", period=16, implementations=only))
    assert made.phases[0].technique == "msg-sync"
    return made


def test_words_must_not_pass_through_a_node_of_other_messages(
    breaks: Callable[[str, str, Images], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(
        "message-ends",
        "words of b[0] pass, of which no message of the node's own tells",
        images("(0 2) (1 3)", monkeypatch),
    )


def test_words_may_pass_through_nodes_that_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    report = check_images(images("(0 1) (2 3)", monkeypatch))
    assert report.ok, report.render()
