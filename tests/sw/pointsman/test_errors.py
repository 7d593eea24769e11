"""What a user's error looks like when it is printed."""

from __future__ import annotations

import pickle

import pytest

from pointsman.errors import PointsmanError, RefusedError


def test_without_a_hint_the_message_is_all_that_is_printed() -> None:
    assert str(PointsmanError("depth must be even, not 3")) == "depth must be even, not 3"


def test_a_hint_stands_in_a_line_of_its_own() -> None:
    error = PointsmanError("there is no x", hint="there are: a, b")
    assert str(error).splitlines() == ["there is no x", "  hint: there are: a, b"]
    assert (error.message, error.hint) == ("there is no x", "there are: a, b")


def test_a_hint_is_never_taken_for_a_second_message() -> None:
    with pytest.raises(TypeError):
        PointsmanError("one", "two")  # type: ignore[misc]


def test_a_message_is_a_text() -> None:
    with pytest.raises(TypeError, match=r"^the message of an error must be a text, not int$"):
        PointsmanError(3)  # type: ignore[arg-type]


def test_an_error_without_frames_is_the_same_error() -> None:
    sizes = {"registers": 20}
    refused = RefusedError("p", resource="interface registers a node", size=16, needed=20, sizes=sizes)
    try:
        raise refused
    except RefusedError as caught:
        same = caught.without_frames()
        assert caught.__traceback__ is not None
    assert (type(same), str(same), same.args, same.sizes) == (RefusedError, str(refused), refused.args, sizes)
    assert same.__traceback__ is None


def test_an_error_comes_through_from_another_process() -> None:
    again = pickle.loads(pickle.dumps(PointsmanError("no", hint="yes")))
    assert (str(again), again.message, again.hint) == ("no\n  hint: yes", "no", "yes")


@pytest.mark.parametrize("why", [None, "node 3 has too few"])
def test_a_refusal_says_what_is_lacking_and_what_would_do(why: str | None) -> None:
    sizes = {"registers": 20, "schedule_depth": 256}
    refused = RefusedError("p", resource="interface registers a node", size=16, needed=20, why=why, sizes=sizes)
    reason = "" if why is None else ": node 3 has too few"
    assert refused.message == f"p needs 20 interface registers a node and is given 16{reason}"
    assert refused.hint == "it fits with --registers 20 --schedule-depth 256"
    again = pickle.loads(pickle.dumps(refused))
    assert vars(again) == vars(refused)
