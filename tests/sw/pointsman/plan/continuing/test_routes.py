"""Routes of operators that continue: found first, kept in all of their phases, with one word a period where no more is asked."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.context import PlanContext
from pointsman.plan.continuing.routes import ContinuingRoutes, PhaseStreams, stand, with_shares
from pointsman.routing.streams import Stream

TEXT = "(parallel (cshift 's 1 :m 400) (sequential (cshift 'a 1 :m 9) (cshift 'b 3 :m 9) (barrier 'c)))"


def context(text: str = TEXT) -> PlanContext:
    """On a mesh of 2x2, phases ending wherever they may."""
    program = compile_text(text, topology=mesh(2, 2))
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape(registers=32)), IMPLEMENTATIONS)
    return PlanContext(analysis=analysis, structure=analysis.folded(lambda part, i: True), period=16)


def others(own: PlanContext) -> PhaseStreams:
    """In the first phase there is much to do, in the others little."""
    busy = [Stream(f"x{i}{k}", i, ((i + k) % 4,)) for i in range(4) for k in (1, 2, 3)]
    return {p: busy if p == 0 else busy[:1] for p in range(len(own.structure.phases))}


def test_nothing_stands_where_nothing_continues() -> None:
    nothing = ContinuingRoutes()
    assert nothing.beside(0) == ()
    assert not nothing.messages(0)
    own = context()
    assert nothing.ending(0, own.structure) == []
    assert nothing.reasons(own.structure) == {}


def test_it_has_its_first_route_in_all_of_its_phases_and_ends_in_the_last() -> None:
    own = context()
    made = stand(own, others(own), None)
    ((through, alone),) = made.operators
    assert through.phases == (0, 1, 2)
    assert all(made.beside(p) == (alone.routed,) for p in through.phases)
    assert made.beside(3) == ()
    last = through.phases[-1]
    assert [[one.operator.label for one in made.ending(p, own.structure)] for p in range(3)].count(["s"]) == len(
        made.reasons(own.structure)
    )
    assert all("'s', which continues" in why for why in made.reasons(own.structure).values())
    assert set(made.reasons(own.structure)) <= {last}
    # As if it were a phase of its own that nobody ever leaves.
    assert (alone.technique, alone.barrier, alone.settle, alone.exits) == ("no-op", None, 0, 0.0)


@pytest.mark.parametrize("most", [1, 2])
def test_its_streams_get_no_more_words_a_period_than_they_are_to(most: int) -> None:
    own = context()
    ((_, few),) = stand(own, others(own), most).operators
    ((_, many),) = stand(own, others(own), None).operators
    for number, stream in enumerate(few.routed.streams):
        assert 1 <= few.routed.words(number) <= most
        assert few.routed.words(number) <= many.routed.words(number)
        # What the program allows is kept in mind: slots may be added later.
        assert stream.max_words == many.routed.streams[number].max_words


def test_where_others_have_less_to_do_it_gets_its_share_and_others_keep_off_it() -> None:
    own = context()
    standing = stand(own, others(own), 1)
    shared = with_shares(own, others(own), standing, 1)
    assert shared is not None
    ((through, alone),) = shared.operators
    words = [sum(chain.words for chain in shared.beside(p)[0].chains) for p in through.phases]
    assert words[0] == sum(chain.words for chain in alone.routed.chains)
    assert max(words[1:]) > words[0]
    widest = max((link_writes(shared.beside(p)[0]) for p in through.phases), key=len)
    for p in through.phases:
        assert link_writes(alone.routed) <= link_writes(shared.beside(p)[0])
        assert widest <= shared.continued[p]
