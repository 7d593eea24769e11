"""What a processor does in one call of a combining operator, written down step by step."""

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
        """Lanes before each combination."""
        self.step = 0

    def move(self, write: bool, registers: tuple[int, ...], message: str, after: int | None = None) -> int:
        """A message to or from the router, in one step with those before it unless something has been combined since."""
        self.lanes.append(LaneImage(write, registers, data=message, step=self.step, after=after))
        return len(self.lanes) - 1

    def wait(self) -> None:
        """What comes next comes after what has been moved so far."""
        if any(lane.step == self.step for lane in self.lanes):
            self.step += 1

    def combine(self, left: str, right: str, result: str) -> None:
        self.wait()
        self.combines.append(Combination(self.step, left, right, result))
        self.places.append(len(self.lanes))

    def fold(self, messages: list[str], result: str) -> str:
        """Combine messages in order; gives the name under which the outcome stands (that of a single one)."""
        standing = messages[0]
        for message in messages[1:]:
            self.combine(standing, message, result)
            standing = result
        return standing

    def role(self, *, by_item: bool, result: bool, void: bool, switch: int | None = None) -> RoleDraft:
        """What was written down as a role. ``by_item``: all of it is done with one item after the other, so that a processor
        is at the last lanes with the first items while it is at the first lanes with others."""
        lanes, combines = tuple(self.lanes), tuple(self.combines)
        if by_item:
            lanes = tuple(replace(lane, step=0, after=k - 1 if k else None) for k, lane in enumerate(lanes))
            combines = tuple(replace(one, step=at) for one, at in zip(combines, self.places, strict=True))
        return RoleDraft(
            "func", lanes, combines=combines, result=result, void=void, switch=switch, by_item=by_item and bool(lanes)
        )
