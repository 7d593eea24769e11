"""A processor's steps in a call of a combining operator: lanes that move messages, and combinations of messages."""

from __future__ import annotations

from dataclasses import replace

from pointsman.artifacts.images.images import Combination, LaneImage

from .roles import RoleDraft


class RoleScript:
    """Collects lanes and combinations in the order in which a processor does them."""

    def __init__(self) -> None:
        self.lanes: list[LaneImage] = []
        self.combines: list[Combination] = []
        self.places: list[int] = []
        """For each combination, how many lanes were written down before it."""
        self.step = 0

    def move(self, write: bool, registers: tuple[int, ...], message: str, after: int | None = None) -> int:
        """Add a lane that moves ``message``, in the same step as the lanes before it unless a combination came between; gives
        the lane's index."""
        self.lanes.append(LaneImage(write, registers, data=message, step=self.step, after=after))
        return len(self.lanes) - 1

    def wait(self) -> None:
        """Begin a new step, if the current step has lanes: later lanes wait for those written down so far."""
        if any(lane.step == self.step for lane in self.lanes):
            self.step += 1

    def combine(self, left: str, right: str, result: str) -> None:
        self.wait()
        self.combines.append(Combination(self.step, left, right, result))
        self.places.append(len(self.lanes))

    def fold(self, messages: list[str], result: str) -> str:
        """Combine messages in order; gives the name of the outcome: ``result``, or the message itself if it is alone."""
        standing = messages[0]
        for message in messages[1:]:
            self.combine(standing, message, result)
            standing = result
        return standing

    def role(self, *, by_item: bool, result: bool, void: bool, switch: int | None = None) -> RoleDraft:
        """The steps as a role. ``by_item``: items of a message go through all steps singly, so the processor may have its
        first items in the last lanes while later items are still in the first lanes."""
        lanes, combines = tuple(self.lanes), tuple(self.combines)
        if by_item:
            lanes = tuple(replace(lane, step=0, after=k - 1 if k else None) for k, lane in enumerate(lanes))
            combines = tuple(replace(one, step=at) for one, at in zip(combines, self.places, strict=True))
        return RoleDraft(
            "func", lanes, combines=combines, result=result, void=void, switch=switch, by_item=by_item and bool(lanes)
        )
