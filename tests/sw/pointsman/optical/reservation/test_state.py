"""Tables of a run."""

from __future__ import annotations

from pointsman.optical.reservation.state import ATTEMPTS, PACKETS, empty_state, grown


def chain(state, followers: str, first: int) -> list[int]:
    found, at = [], int(first)
    while at != -1:
        found.append(at)
        at = int(getattr(state, followers)[at])
    return found


def test_all_rows_are_free_at_first_and_new_ones_when_tables_grow():
    state = empty_state(4, 16, 64, 3, 10)
    assert (state.free == 2**64 - 1).all()
    for _ in range(3):
        rows = len(state.packet_kind)
        assert sorted(chain(state, "packet_next", state.counters[1])) == list(range(rows))
        assert sorted(chain(state, "attempt_next", state.counters[2])) == list(range(rows))
        assert {len(getattr(state, name)) for name in (*PACKETS, *ATTEMPTS, "held", "since")} == {rows}
        state = grown(state, 4)
        assert len(state.packet_kind) >= 2 * rows


def test_rows_in_use_stay_when_tables_grow():
    state = empty_state(2, 6, 1, 1, 1)
    state.packet_message[5] = 77
    state.counters[1] = -1  # all in use
    more = grown(state, 2)
    assert more.packet_message[5] == 77
    assert min(chain(more, "packet_next", more.counters[1])) == len(state.packet_kind)
