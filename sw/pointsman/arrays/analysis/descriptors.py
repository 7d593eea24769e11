"""Section communication descriptors (Yuan 1998, §5.2.1) and their operations.

A descriptor says which elements of an array go to which virtual processors: for all values of its ``bound`` variables, the
element at ``region`` goes to the point ``destination`` of ``template``. The thesis writes the same as <A, D, CM, Q>: D is
``region`` with its variables replaced by triples, the source of CM the owner of ``region``, its qualifier the range of a variable
that occurs in ``destination`` only. Other names in it are indices of loops around its place.

Differences are exact wherever ranges can be cut; where they cannot, what remains is a subset (`without_elements`) or all of it
(`without_copies`), which is the conservative side of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from pointsman.arrays.tree.affine import Affine, Range, Scope


@dataclass(frozen=True)
class Triple:
    """Subscripts ``low``, ``low`` + ``step``, … up to ``high``; a step of 0 is a single one."""

    low: Affine
    high: Affine
    step: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}:{self.high}:{self.step}"


@dataclass(frozen=True)
class Descriptor:
    """Elements and where they go; ``template`` None is every processor.

    ``qualifier`` names the iterations of the loop directly around it in which it takes place; None: in all.
    """

    array: str
    region: tuple[Affine, ...]
    template: str | None
    destination: tuple[Affine, ...]
    bound: tuple[Range, ...] = ()
    qualifier: Range | None = None

    @property
    def section(self) -> tuple[Triple, ...]:
        """D: the least box of triples around its region."""
        return hull(self.region, self.bound)

    def expanded(self, one: Range, scope: Scope) -> Descriptor:
        """The same for all iterations of a loop, which is the next outside its bound variables."""
        used = any(one.name in value.names for value in (*self.region, *self.destination)) or any(
            one.name in (range_.low - range_.high).names | range_.low.names for range_ in self.bound
        )
        # A loop that nothing depends on matters only if it may be empty.
        if not used and (one.count or scope.at_most(one.least, one.most)) and one.step in (1, -1):
            return self
        return self if not used and one.count else replace(self, bound=(one, *self.bound))

    def limited(self, name: str, one: Range) -> Descriptor:
        """With another range for a bound variable."""
        return replace(self, bound=tuple(one if old.name == name else old for old in self.bound))

    def renamed(self, mark: str) -> Descriptor:
        """With a mark behind the names of its bound variables."""
        names = {one.name: one.name + mark for one in self.bound}
        values = {old: Affine.of(new) for old, new in names.items()}
        return replace(
            self,
            region=tuple(value.put(values) for value in self.region),
            destination=tuple(value.put(values) for value in self.destination),
            bound=tuple(one.renamed(names) for one in self.bound),
        )

    def __str__(self) -> str:
        to = "everyone" if self.template is None else f"{self.template}({','.join(map(str, self.destination))})"
        inside = ",".join(map(str, self.region))
        for_all = "".join(f", {one}" for one in self.bound)
        when = "" if self.qualifier is None else f" where {self.qualifier}"
        return f"{self.array}({inside}) -> {to}{for_all}{when}"


def hull(region: Sequence[Affine], ranges: Sequence[Range]) -> tuple[Triple, ...]:
    """The least triples around expressions for all values of ranges (the outermost first)."""
    found = []
    for value in region:
        low, high, step = value, value, 0
        for one in reversed(ranges):
            up, down = high.factor(one.name), low.factor(one.name)
            step = gcd(step, up * one.step, down * one.step)
            high = high.put({one.name: one.most if up > 0 else one.least}) if up else high
            low = low.put({one.name: one.least if down > 0 else one.most}) if down else low
        found.append(Triple(low, high, step))
    return tuple(found)


def _cut(one: Range, factor: int, rest: Affine, low: Affine, high: Affine) -> tuple[list[Range], Range | None] | None:
    """Where a variable is outside and where inside ``low`` ≤ factor × variable + rest ≤ ``high``; None if it cannot be told."""
    count, first, last = one.count, (low - rest - one.low * factor).known, (high - rest - one.low * factor).known
    if count is None or first is None or last is None:
        return None
    # The variable's number n (from 0) is inside if first ≤ factor × step × n ≤ last.
    pace = factor * one.step
    least, most = (-(-first // pace), last // pace) if pace > 0 else (-(last // -pace), -first // -pace)
    least, most = max(least, 0), min(most, count - 1)
    if least > most:
        return [one], None

    def part(start: int, stop: int) -> list[Range]:
        if start > stop:
            return []
        return [Range(one.name, one.low + start * one.step, one.low + stop * one.step, one.step)]

    return part(0, least - 1) + part(most + 1, count - 1), part(least, most)[0]


def _alone(name: str, of: int, values: Sequence[Affine], bound: Iterable[Range]) -> bool:
    """Is a variable in one of the values only, the only variable there, and in no range?"""
    bound = tuple(bound)
    names = {one.name for one in bound}
    return (
        values[of].names & names == {name}
        and not any(name in value.names for at, value in enumerate(values) if at != of)
        and not any(name in one.low.names | one.high.names for one in bound)
    )


def apart(one: Descriptor, box: Sequence[Triple], scope: Scope) -> bool:
    """Is it known that no element of a descriptor is in a box?"""
    inside = scope.with_ranges(one.bound)
    return any(_never(inside, value, triple) for value, triple in zip(one.region, box, strict=True))


def _never(scope: Scope, value: Affine, triple: Triple) -> bool:
    for difference in (value - triple.high - 1, triple.low - value - 1):
        least = scope.least(difference)
        if least is not None and least >= 0:
            return True
    if triple.step > 1:
        lattice = Range("lattice'", Affine(), Affine.of("unknown'"))
        return not scope.with_ranges([lattice]).may_vanish(value - triple.low - Affine.of("lattice'") * triple.step)
    return False


def within(scope: Scope, value: Affine, triple: Triple) -> bool:
    """Is a value known to be between the ends of a triple?"""
    return scope.at_most(triple.low, value) and scope.at_most(value, triple.high)


def without_elements(one: Descriptor, box: Sequence[Triple], scope: Scope) -> list[Descriptor]:
    """Parts of a descriptor with none of a box's elements: all such elements, or fewer where the ranges cannot be cut."""
    if apart(one, box, scope):
        return [one]
    pieces: list[Descriptor] = []
    for at, triple in enumerate(box):
        inside = scope.with_ranges(one.bound)
        if within(inside, one.region[at], triple):
            continue
        variable = next((v for v in one.bound if _alone(v.name, at, one.region, one.bound)), None)
        if variable is None:
            continue
        value = one.region[at]
        rest = value.put({variable.name: 0})
        parts = _cut(variable, value.factor(variable.name), rest, triple.low, triple.high)
        if parts is None:
            continue
        outside, rest_of_it = parts
        pieces += [one.limited(variable.name, part) for part in outside]
        if rest_of_it is None:
            return pieces
        one = one.limited(variable.name, rest_of_it)
    return pieces


def _solved(one: Descriptor, other: Descriptor) -> dict[str, Affine] | None:
    """``other``'s variables in those of ``one`` that make element and destination equal; None if there are none."""
    pairs = list(zip((*other.region, *other.destination), (*one.region, *one.destination), strict=True))
    solution: dict[str, Affine] = {}
    unknown = {variable.name for variable in other.bound}
    for theirs, own in pairs:
        left = theirs.names & unknown - solution.keys()
        if len(left) == 1:
            (name,) = left
            value = (own - theirs.put({**solution, name: 0})).divided(theirs.factor(name))
            if value is None:
                return None
            solution[name] = value
    if any(theirs.names & unknown - solution.keys() or theirs.put(solution) != own for theirs, own in pairs):
        return None
    return solution


def without_copies(one: Descriptor, other: Descriptor, scope: Scope) -> list[Descriptor]:
    """Parts of a descriptor that another does not deliver: [] if it delivers all, the descriptor itself if nothing is known."""
    if one.array != other.array or (one.template != other.template and other.template is not None):
        return [one]
    if other.template is None and one.template is not None:
        one_there = replace(one, template=None, destination=())
    else:
        one_there = one
    theirs = other.renamed("~")
    solution = _solved(one_there, theirs)
    if solution is None:
        return [one]
    pieces: list[Descriptor] = []
    remaining = one
    for variable in theirs.bound:
        inside = scope.with_ranges(remaining.bound)
        if variable.low.names & solution.keys() or variable.high.names & solution.keys():
            variable = variable.put(solution)
        if variable.name not in solution:
            same = any(
                (own.low, own.high, own.step) == (variable.low, variable.high, variable.step) for own in one.bound
            )
            if not (
                same or variable.count or (variable.step in (1, -1) and inside.at_most(variable.least, variable.most))
            ):
                return [one]
            continue
        value = solution[variable.name]
        if not _on_lattice(value - variable.low, variable.step, remaining.bound):
            return [one]
        if within(inside, value, Triple(variable.least, variable.most, 1)):
            continue
        used = [own for own in remaining.bound if own.name in value.names]
        free = [
            own
            for own in used
            if not any(own.name in other_.low.names | other_.high.names for other_ in remaining.bound)
        ]
        if len(used) != 1 or not free:
            return [one]
        rest = value.put({used[0].name: 0})
        parts = _cut(used[0], value.factor(used[0].name), rest, variable.least, variable.most)
        if parts is None:
            return [one]
        outside, common = parts
        pieces += [remaining.limited(used[0].name, part) for part in outside]
        if common is None:
            return pieces
        remaining = remaining.limited(used[0].name, common)
    return pieces


def _on_lattice(value: Affine, step: int, ranges: Sequence[Range]) -> bool:
    """Is an expression known to be a multiple of a step?"""
    if abs(step) == 1:
        return True
    for one in reversed(ranges):
        factor = value.factor(one.name)
        if factor:
            if factor * one.step % step:
                return False
            value = value.put({one.name: one.low})
    return value.known is not None and value.known % step == 0


def covers(other: Descriptor, one: Descriptor, scope: Scope) -> bool:
    """Is everything that ``one`` delivers known to be delivered by ``other``?"""
    return not without_copies(one, other, scope)
