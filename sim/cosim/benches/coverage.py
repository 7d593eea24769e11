"""Functional coverage: named bins, each of which must be hit, or be shown out of reach with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pointsman.errors import PointsmanError


class CoverageError(PointsmanError):
    """A bin was hit that does not exist or was declared to be out of reach."""


@dataclass
class BinGroup:
    """Bins that belong together.

    Attributes
    ----------
    hits : dict of str to int
        How often each bin was hit.
    unreachable : dict of str to str
        Bins that can never be hit, with the reason.
    """

    name: str
    hits: dict[str, int] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        return [name for name, count in self.hits.items() if not count]


class Coverage:
    """All groups of a bench."""

    def __init__(self) -> None:
        self.groups: dict[str, BinGroup] = {}
        self._open = 0

    def group(self, name: str, bins: Iterable[str], unreachable: Mapping[str, str] | None = None) -> None:
        """Declare a group. ``unreachable`` names bins that must never be hit, with the reason; they may be among
        ``bins``."""
        reasons = dict(unreachable or {})
        hits = {bin_: 0 for bin_ in bins if bin_ not in reasons}
        if name in self.groups or not hits:
            raise ValueError(f"group {name!r} must be new and must have bins")
        self.groups[name] = BinGroup(name, hits, reasons)
        self._open += len(hits)

    def hit(self, name: str, bin_: str) -> None:
        """Count ``bin_``.

        Raises
        ------
        CoverageError
            If it is declared to be out of reach, or not declared.
        """
        group = self.groups[name]
        count = group.hits.get(bin_)
        if count is None:
            reason = group.unreachable.get(bin_)
            said = "no such bin was declared" if reason is None else f"it was said to be out of reach: {reason}"
            raise CoverageError(f"{name}: {bin_} has happened, but {said}")
        if not count:
            self._open -= 1
        group.hits[bin_] = count + 1

    @property
    def full(self) -> bool:
        """Every bin has been hit."""
        return not self._open

    def as_dict(self) -> dict[str, dict[str, dict[str, int] | dict[str, str]]]:
        """Plain values, for a file."""
        return {
            group.name: {"hits": dict(group.hits), "unreachable": dict(group.unreachable)}
            for group in self.groups.values()
        }
