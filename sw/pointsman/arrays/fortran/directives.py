"""HPF directives: PROCESSORS, TEMPLATE, ALIGN, DISTRIBUTE and REDISTRIBUTE; each a function of its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pointsman.arrays.building import check_alignment, check_grid, spread
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.mapping import Aligned, Array, Grid, Spread, Template
from pointsman.arrays.tree.statements import Redistribute

from .expressions import Names, affine
from .text import expression_of

IGNORED = ("independent", "dynamic", "inherit", "sequence", "nosequence", "new")
"""Directives that change neither an owner nor a value."""
KNOWN = ("PROCESSORS", "TEMPLATE", "ALIGN", "DISTRIBUTE", "REDISTRIBUTE")
PASSED_OVER = f"known are {', '.join(KNOWN)}; without effect {', '.join(word.upper() for word in IGNORED)}"


def parts(text: str) -> list[str]:
    """What stands between the commas outside parentheses."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return [part.strip() for part in (*found, text[start:])]


@dataclass
class Directives:
    """The mapping that the directives of a program give; ``finish`` after the last of its declarations."""

    names: Names
    processors: tuple[int, ...] | None = None
    """From the command line; they go before those of the text."""
    grids: dict[str, Grid] = field(default_factory=dict)
    shapes: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    spreads: dict[str, tuple[tuple[Spread, ...], int]] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    alignments: dict[str, tuple[str, tuple[Aligned, ...], int]] = field(default_factory=dict)
    spread_out: dict[str, set[int]] = field(default_factory=dict)
    """By array: dimensions of its template all of which it is aligned to."""
    straight: dict[str, dict[int, int]] = field(default_factory=dict)
    """By array: dimensions of its template with the axis of the array that begins where they begin."""

    def declare(self, text: str, line: int) -> None:
        """Take a directive among the declarations.

        Raises
        ------
        ArrayProgramError
            For an unknown directive, or one that is wrongly put.
        """
        lower = text.lower()
        word = re.match(r"[a-z]*", lower)
        assert word is not None
        rest = lower[word.end() :].strip()
        how: dict[str, Callable[[str, int], None]] = {
            "processors": self._processors,
            "template": self._template,
            "align": self._align,
            "distribute": self._distribute,
        }
        if word[0] in how:
            how[word[0]](rest, line)
        elif word[0] not in IGNORED:
            raise self._error(line, f"there is no directive {text.split('(')[0].strip()} here", PASSED_OVER)

    def redistribute(self, text: str, line: int) -> Redistribute | None:
        """Take a directive among the statements; None if it changes nothing."""
        lower = text.lower()
        if lower.startswith(IGNORED):
            return None
        if not lower.startswith("redistribute"):
            raise self._error(
                line, f"there is no directive {text.split('(')[0].strip()} among statements", "REDISTRIBUTE is one"
            )
        name, spreads = self._name_and_spreads(lower[len("redistribute") :].strip(), line)
        array = self.names.arrays.get(name)
        template = array.template if array is not None and array.template else name
        if template not in self.templates:
            raise self._error(line, f"{name} is neither a template nor a distributed array")
        if len([t for t in self.names.arrays.values() if t.template == template]) > 1 and name != template:
            raise self._error(line, f"{name} shares its template with other arrays", "redistribute the template")
        self._check(template, spreads, len(self.templates[template].bounds), line)
        return Redistribute(template, spreads, self.names.text.position(line))

    def finish(self) -> None:
        """Put templates and arrays together."""
        if not self.grids:
            if self.processors is None:
                raise ArrayProgramError(
                    f"{self.names.text.file}: the program names no processors",
                    hint="!HPF$ PROCESSORS p(4,4), or --procs 4x4",
                )
            self.grids[""] = Grid(self.processors)
        first, *others = self.grids.values()
        for name, (_, line) in self.spreads.items():
            if name not in self.shapes:
                array = self.names.arrays.get(name)
                if array is None or not array.bounds:
                    raise self._error(line, f"{name} is neither a template nor an array")
                if name in self.alignments:
                    target, _, first_line = self.alignments[name]
                    raise self._error(
                        line, f"{name} is aligned with {target} on line {first_line}, and lies where that does"
                    )
                self.shapes[name] = array.bounds
                self.alignments[name] = (name, tuple(Aligned(axis, 1, 0) for axis in range(len(array.bounds))), line)
        for name, (target, _, line) in self.alignments.items():
            if target not in self.shapes:
                raise self._error(line, f"there is no template {target}, to which {name} is aligned")
        for name, bounds in self.shapes.items():
            if name not in self.spreads:
                raise ArrayProgramError(
                    f"{self.names.text.file}: the template {name} is not distributed",
                    hint=f"!HPF$ DISTRIBUTE {name}(BLOCK)",
                )
            spreads, line = self.spreads[name]
            self._check(name, spreads, len(bounds), line)
            self.templates[name] = Template(name, bounds, spreads, first, tuple(others))
        for name, (target, alignment, line) in self.alignments.items():
            array = self.names.arrays.get(name)
            if array is None:
                raise self._error(line, f"{name} is aligned and not declared")
            if len(alignment) == len(self.shapes[target]):  # else it is refused below
                known = {at: Aligned(None, 1, self.shapes[target][at][0]) for at in self.spread_out.get(name, ())}
                for at, axis in self.straight.get(name, {}).items():
                    known[at] = Aligned(axis, 1, self.shapes[target][at][0] - array.bounds[axis][0])
                alignment = tuple(known.get(at, aligned) for at, aligned in enumerate(alignment))
            made = Array(name, array.bounds, target, alignment, array.position)
            try:
                check_alignment(made, self.templates)
            except ArrayProgramError as error:
                raise self._error(line, error.message, error.hint) from None
            if self._everywhere(name, target):
                self.names.remarks[
                    f"{self.names.text.position(line, name)}: {name} lies on all of a dimension of {target} that is distributed; "
                    "every processor holds all of it, and computes what is assigned to it"
                ] = None
                made = Array(name, array.bounds, position=array.position)
            self.names.arrays[name] = made

    def _everywhere(self, name: str, template: str) -> bool:
        """Is an array aligned to all of a dimension that is distributed, at first or later?"""
        found = (re.match(r"\s*[!c*]hpf\$\s*redistribute\s+(\w+)", one, re.IGNORECASE) for one in self.names.text.lines)
        moved = {one[1].lower() for one in found if one is not None}
        moves = template in moved or any(self.alignments[one][0] == template for one in moved & self.alignments.keys())
        spreads, _ = self.spreads[template]
        return any(moves or spreads[dimension].kind != "*" for dimension in self.spread_out.get(name, ()))

    def _error(self, line: int, message: str, hint: str | None = None) -> ArrayProgramError:
        return self.names.text.error(line, message, hint=hint)

    def _affine(self, text: str, line: int) -> Affine:
        node = expression_of(text)
        value = None if node is None else affine(node, self.names)
        if value is None:
            raise self._error(line, f"{text.strip() or 'nothing'} is not affine in what is known here")
        return value

    def _number(self, text: str, line: int) -> int:
        value = self._affine(text, line).known
        if value is None:
            raise self._error(line, f"{text} has no value here", f"give it one: --set {text}=…")
        return value

    def _call(self, text: str, line: int, what: str) -> tuple[str, list[str]]:
        found = re.fullmatch(r"([a-z]\w*)\s*\((.*)\)", text)
        if found is None:
            raise self._error(line, f"{what} is written name(…), not {text or 'nothing'}")
        return found[1], parts(found[2])

    def _listed(self, rest: str, line: int, what: str) -> list[tuple[str, list[str]]]:
        """Names with their sizes: ``p(4), q(2,2)``, and ``, DIMENSION(4) :: p, q``."""
        head, listed, several = rest.partition("::")
        if not listed:
            return [self._call(one, line, what) for one in parts(rest)]
        shape = head.strip().lstrip(",").strip()
        if shape and re.fullmatch(r"dimension\s*\(.*\)", shape) is None:
            raise self._error(line, f"{shape} is no attribute of {what}", "DIMENSION(…) is one")
        common = shape.removeprefix("dimension").strip()
        return [self._call(one if "(" in one else one + common, line, what) for one in parts(several)]

    def _processors(self, rest: str, line: int) -> None:
        for name, sizes in self._listed(rest, line, "a grid of processors"):
            self._grid(name, sizes, line)

    def _grid(self, name: str, sizes: list[str], line: int) -> None:
        if self.processors is not None and not self.grids:
            if len(self.processors) != len(sizes):
                raise self._error(line, f"--procs gives {len(self.processors)} dimensions and {name} has {len(sizes)}")
            shape = self.processors  # what the text has may be a number that only a run knows
        elif any("number_of_processors" in size for size in sizes):
            raise self._error(line, f"the number of processors of {name} has no value here", "give it: --procs 4x4")
        else:
            shape = tuple(self._number(size, line) for size in sizes)
        if min(shape) < 1:
            raise self._error(line, f"a grid of processors has at least one along each dimension, not {shape}")
        made = Grid(shape)
        if name in self.grids:
            raise self._error(line, f"there are processors {name} already")
        try:
            check_grid(made, tuple(self.grids.values()))
        except ArrayProgramError as error:
            hint = "--procs replaces the first grid only" if self.processors is not None else None
            raise self._error(line, error.message, hint) from None
        self.grids[name] = made

    def _template(self, rest: str, line: int) -> None:
        for name, sizes in self._listed(rest, line, "a template"):
            bounds = []
            for size in sizes:
                low, _, high = size.rpartition(":")
                bounds.append((self._number(low, line) if low else 1, self._number(high, line)))
                if bounds[-1][0] > bounds[-1][1]:
                    raise self._error(line, f"the template {name} is empty along a dimension, {size}")
            self.shapes[name] = tuple(bounds)

    def _name_and_spreads(self, text: str, line: int) -> tuple[str, tuple[Spread, ...]]:
        text, onto, grid = re.split(r"(\bonto\b)", text, maxsplit=1) if " onto " in text else (text, "", "")
        name, kinds = self._call(text.strip(), line, "a distribution")
        spreads = []
        for kind in kinds:
            block = re.fullmatch(r"cyclic\s*\((.*)\)", kind)
            try:
                spreads.append(spread(f"cyclic({self._number(block[1], line)})" if block else kind))
            except ArrayProgramError as error:
                raise self._error(line, error.message) from None
        if onto and grid.strip() not in self.grids:
            raise self._error(line, f"there are no processors {grid.strip()}")
        distributed = sum(one.kind != "*" for one in spreads)
        if onto and len(self.grids[grid.strip()].shape) != distributed:
            raise self._error(
                line,
                f"{distributed} dimensions of {name} are distributed over {grid.strip()}, which has "
                f"{len(self.grids[grid.strip()].shape)}",
            )
        return name, tuple(spreads)

    def _distribute(self, rest: str, line: int) -> None:
        kinds, listed, several = rest.partition("::")
        names = parts(several) if listed else [""]
        for name in names:
            full = kinds.strip() if not listed else f"{name}{kinds.strip()}"
            own, spreads = self._name_and_spreads(full, line)
            if own in self.spreads:
                raise self._error(
                    line,
                    f"{own} is distributed on line {self.spreads[own][1]} already",
                    "REDISTRIBUTE, among statements",
                )
            self.spreads[own] = (spreads, line)

    def _aligned(self, text: str, line: int) -> tuple[str, list[str]]:
        """What is aligned: a name with subscripts, or alone, with all of its dimensions."""
        if re.fullmatch(r"[a-z]\w*", text):
            return text, [":"] * len(self.names.arrays.get(text, Array(text, ())).bounds)
        return self._call(text, line, "what is aligned")

    def _align(self, rest: str, line: int) -> None:
        head, listed, several = rest.partition("::")
        source, found, target = re.sub(r"\bwith\b", "\0", head, count=1).partition("\0")
        if not found:
            raise self._error(line, "an alignment is written ALIGN a(i,j) WITH t(i,j)")
        source, target = source.strip(), target.strip()
        for name in parts(several) if listed else [""]:
            own, subscripts = self._aligned(f"{name}{source}", line)
            if own in self.alignments:
                raise self._error(line, f"{own} is aligned on line {self.alignments[own][2]} already")
            whole = re.fullmatch(r"[a-z]\w*", target)
            template, places = (
                (target, [":"] * len(subscripts)) if whole else self._call(target, line, "what it is aligned with")
            )
            colons = [axis for axis, dummy in enumerate(subscripts) if dummy == ":"]
            if len(colons) != places.count(":"):
                raise self._error(
                    line, f"{own} has {len(colons)} times : and {template}, with which it is aligned, has not"
                )
            dummies = {dummy: axis for axis, dummy in enumerate(subscripts) if dummy not in ("*", ":")}
            if len(self.names.arrays.get(own, Array(own, ())).bounds) != len(subscripts):
                raise self._error(
                    line, f"{own} is aligned with {len(subscripts)} subscripts and is declared otherwise, or not at all"
                )
            self.names.indices.extend(dummies)
            alignment: list[Aligned] = []
            for place in places:
                if place == ":":
                    self.straight.setdefault(own, {})[len(alignment)] = colons.pop(0)
                    alignment.append(Aligned(None, 1, 0))
                    continue
                if place == "*":
                    self.spread_out.setdefault(own, set()).add(len(alignment))
                    alignment.append(Aligned(None, 1, 0))  # moved to the template's first point when that is known
                    continue
                value = self._affine(place, line)
                if len(value.terms) > 1 or not value.names <= set(dummies):
                    raise self._error(line, f"{place} is not a scaled subscript and an offset")
                dummy, scale = value.terms[0] if value.terms else (None, 1)
                alignment.append(Aligned(None if dummy is None else dummies[dummy], scale, value.constant))
            del self.names.indices[len(self.names.indices) - len(dummies) :]
            self.alignments[own] = (template, tuple(alignment), line)

    def _check(self, name: str, spreads: tuple[Spread, ...], rank: int, line: int) -> None:
        distributed = sum(one.kind != "*" for one in spreads)
        if len(spreads) != rank:
            raise self._error(line, f"{name} has {rank} dimensions and is given {len(spreads)} distributions")
        ranks = [len(one.shape) for one in self.grids.values()]
        if distributed not in ranks:
            said = " or ".join(map(str, ranks))
            raise self._error(
                line, f"{distributed} dimensions of {name} are distributed over a grid of {said} dimensions"
            )
