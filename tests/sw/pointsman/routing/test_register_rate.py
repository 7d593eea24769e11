"""Words through an interface register: the compiler's count and the judge's, made apart, agree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pointsman.routing import register_rate as joints
from pointsman.verify.words import register_rate as check_joints

SLOTS = st.integers(4, 16).flatmap(
    lambda period: st.tuples(
        st.just(period),
        st.sets(st.integers(0, period - 1), min_size=1, max_size=6),
        st.sets(st.integers(0, period - 1), min_size=1, max_size=6),
    )
)


@given(SLOTS)
def test_both_counts_agree(case: tuple[int, set[int], set[int]]) -> None:
    period, writes, reads = case
    theirs = check_joints.joint_words(sorted(writes), sorted(reads), period)
    assert joints.joint_words(writes, reads, period) == theirs


@given(SLOTS)
def test_no_more_words_than_either_side_has_slots(case: tuple[int, set[int], set[int]]) -> None:
    period, writes, reads = case
    assert joints.joint_words(writes, reads, period) <= min(len(writes), len(reads))


def test_two_words_need_two_reads_between_two_writes() -> None:
    assert joints.joint_words((0, 8), (4, 12), 16) == 2
    assert joints.joint_words((0, 8), (5, 7), 16) == 1
    assert joints.joint_words((0, 1), (4, 5), 8) == 1
    assert joints.joint_words((0,), (), 8) == 0
