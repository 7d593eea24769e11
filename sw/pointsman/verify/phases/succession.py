"""Which phases may follow which: the walks over the graph of phases that the judge needs.

Takes the successors that stand in the images, or a node's own steps between phases; gives phases. It shares nothing with the
planner's graph of phases (``pointsman.plan``), so that a fault in either of the two shows.

Example: phases 0 → 1 → 2 → 0, where a node has no part in 1. For the program, 1 comes after 0; for the node, 2 does
(``passing_over``); and every phase may come again (``comes_again``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pointsman.artifacts.images.images import Images


class Succession:
    """A graph of phases: by phase, the phases that can come next.

    Parameters
    ----------
    after : mapping
        By phase, phases that can come next, ascending.
    """

    def __init__(self, after: Mapping[int, tuple[int, ...]]) -> None:
        self.after = after
        self._later: dict[int, tuple[int, ...]] = {}

    @classmethod
    def of_program(cls, images: Images) -> Succession:
        """The graph of all phases, as the program may go through them."""
        return cls({phase: tuple(image.successors) for phase, image in enumerate(images.phases)})

    @classmethod
    def of_steps(cls, steps: Collection[tuple[int, int]]) -> Succession:
        """The graph of the pairs (phase left, phase entered); -1 stands before the first phase and after the last."""
        starts = dict.fromkeys(before for before, _ in steps)
        return cls({one: tuple(sorted({b for a, b in steps if a == one and b != -1})) for one in starts})

    @classmethod
    def of_node(cls, images: Images, node: int, program: Succession) -> Succession:
        """The graph of a node's phases: by its own ways if it has any, otherwise as in ``program``, passing over phases
        in which it has no part."""
        parts = {part.phase for part in images.nodes[node].phases}
        if not images.nodes[node].ways:
            return cls({phase: program.passing_over(phase, parts) for phase in parts})
        own = cls.of_steps(images.nodes[node].ways).after
        return cls({phase: tuple(later for later in own.get(phase, ()) if later in parts) for phase in parts})

    def __iter__(self) -> Iterator[int]:
        return iter(self.after)

    def __getitem__(self, phase: int) -> tuple[int, ...]:
        return self.after.get(phase, ())

    def before(self, phase: int) -> tuple[int, ...]:
        """Phases after which ``phase`` can come next, ascending."""
        return tuple(sorted(one for one, later in self.after.items() if phase in later))

    def later(self, phase: int) -> tuple[int, ...]:
        """Phases that may come at any time after ``phase``, ascending; ``phase`` itself if it may come again."""
        if phase not in self._later:
            found: set[int] = set()
            waiting = [*self[phase]]
            while waiting:
                later = waiting.pop()
                if later not in found:
                    found.add(later)
                    waiting += self[later]
            self._later[phase] = tuple(sorted(found))
        return self._later[phase]

    def comes_again(self, phase: int) -> bool:
        """May ``phase`` come once more after itself?"""
        return phase in self.later(phase)

    def passing_over(self, phase: int, kept: Collection[int]) -> tuple[int, ...]:
        """Phases of ``kept`` that can come first after ``phase`` when all others are passed over, ascending."""
        found: set[int] = set()
        waiting, seen = [phase], set[int]()
        while waiting:
            for later in self[waiting.pop()]:
                if later in kept:
                    found.add(later)
                elif later not in seen:
                    seen.add(later)
                    waiting.append(later)
        return tuple(sorted(found))
