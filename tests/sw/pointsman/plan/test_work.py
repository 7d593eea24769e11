"""Work is counted, and what is beyond the most is refused at once."""

from __future__ import annotations

import pytest

from pointsman.plan.work import OutOfWorkError, Work


def test_work_is_counted_up_to_the_most_and_then_refused():
    work = Work(10)
    work.spend(4)
    work.spend(6)
    assert work.done == 10
    with pytest.raises(OutOfWorkError, match=r"^more than 10 streams would have to be routed$"):
        work.spend(1)
    assert work.done == 10


def test_without_a_most_there_is_no_end():
    work = Work()
    work.spend(10**12)
    assert work.done == 10**12
