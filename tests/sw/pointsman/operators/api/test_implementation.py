"""What an implementation gives unless it says otherwise, and roles put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context


def test_an_implementation_has_to_say_how_well_it_does_and_what_it_sends() -> None:
    from pointsman.operators import Implementation

    assert Implementation.__abstractmethods__ == {"metric", "streams", "gen_io"}


@pytest.mark.parametrize(
    "text",
    [
        "(broadcast 'o 1 :m 5)",
        "(broadcast 'o (runtime) :m 5)",
        "(cshift 'o 1 :m 5)",
        "(eoshift 'o -1 :m 5)",
        "(stream 'o 0 2 :m 5)",
        "(stream 'o (runtime) (runtime) :m 5)",
        "(reduce 'o 2 'sum :m 5)",
        "(allreduce 'o 'sum :m 5)",
        "(prefix 'o 'sum :m 5)",
        "(collect 'o (runtime) :m 5)",
        "(gather 'o 0 :m 5)",
        "(spread 'o 0 :m 5)",
        "(barrier 'o)",
    ],
)
def test_streams_of_all_implementations_join_nodes_of_one_instance(text: str, operator_of: Callable[..., Any]) -> None:
    operator = operator_of(f"(subset (make-1d 'x) {text})", mesh(3, 2))
    context = Context(mesh(3, 2), NodeShape())
    asked = 0
    for implementation in IMPLEMENTATIONS:
        if operator.kind not in implementation.kinds or implementation.metric(operator, context) is None:
            continue
        asked += 1
        streams = implementation.streams(operator, context)
        assert len({stream.name for stream in streams}) == len(streams), implementation.name
        for stream in streams:
            instance = operator.instances[int(stream.name.partition("[")[2].partition("]")[0])]
            assert {stream.source, *stream.destinations} <= set(instance.nodes), (implementation.name, stream.name)
            assert stream.into is None or stream.into in {other.name for other in streams}
    assert asked


def test_a_role_has_the_settings_of_its_values(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_rtdest", "(stream 'o 0 (runtime) :m 5)")
    there = {node: one.roles((3,))[node].settings for node in range(1, 6)}
    assert all(len(settings) > 0 for settings in there.values())
    kept = {node for node, settings in there.items() if all(s.vfsm.destination.kind == "deliver" for s in settings)}
    assert kept == {3}
