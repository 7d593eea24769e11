"""Patterns on processors, against every element; and the thesis's examples (Yuan 1998, §5.3), the second put right."""

from __future__ import annotations

import doctest
import itertools
import random

import pytest

from pointsman.arrays import physical
from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import Owners, initial
from pointsman.arrays.analysis.descriptors import Descriptor
from pointsman.arrays.analysis.emulation import delivered
from pointsman.arrays.building import ProgramBuilder
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.physical import Coordinate, Pairs, Product, Values, listed, pattern, sequence_pattern
from pointsman.arrays.tree.affine import Affine, Range, Scope
from pointsman.arrays.tree.mapping import Grid
from pointsman.arrays.tree.statements import ArrayProgram


def test_the_example_of_a_sequence() -> None:
    assert doctest.testmod(physical).failed == 0
    line = Coordinate(Affine(), 0, 2, 2)
    # 2, 5, 8, 11, … lie on 1, 0, 0, 1, … (Figure 5.7)
    assert [line.processor(2 + 3 * n) for n in range(5)] == [1, 0, 0, 1, 1]


@pytest.mark.parametrize("p", range(1, 5))
def test_one_dimension_against_all_elements(p: int) -> None:
    """All blocks to 4 and strides to 8, of known and unknown length: nothing new comes behind p² b² elements."""
    for b, stride, shift in itertools.product(range(1, 5), [*range(1, 9), -1, -3], (-5, -1, 0, 2, 7)):
        source, target = Coordinate(Affine(), 0, p, b), Coordinate(Affine(shift), 0, p, b)
        for factor, count in ((1, None), (2, None), (1, 3), (3, p * b)):
            visited = range(3 * p * p * b * b) if count is None else range(count)
            expected = {((1 + n * stride) // b % p, (factor * (1 + n * stride) + shift) // b % p) for n in visited}
            assert sequence_pattern(Values(1, stride, count), [(1, source), (factor, target)]) == expected


def _only(text: str) -> tuple[Descriptor, Owners, ArrayProgram, Scope]:
    program = read_program(text, "p.f90")
    ((_, one),) = derive(program)["vectorised"].descriptors()
    return one, Owners(program), program, Scope()


def test_transposition() -> None:
    one, owners, program, scope = _only(
        "program p\nreal, dimension(0:7, 0:7) :: x, y\n!hpf$ processors q(2, 2)\n!hpf$ template t(0:7, 0:7)\n"
        "!hpf$ align (i, j) with t(i, j) :: x, y\n!hpf$ distribute t(cyclic(2), cyclic(2))\n"
        "do i = 1, 4\ndo j = 1, 4\nx(j, i) = y(i, j)\nend do\nend do\nend\n"
    )
    t = program.templates["t"]
    number = t.grid.number
    expected = {(number(ij), number(ij[::-1])) for ij in itertools.product(range(2), repeat=2)}
    assert pattern(one, owners, (t, t), scope) == expected


def test_a_broadcast_between_three_dimensions() -> None:
    """Figure 5.10. By the thesis's own formula dimension 1 gives all four pairs and dimension 2 has a single processor."""
    one, owners, program, scope = _only(
        "program p\nreal x(5, 5), y(5)\n!hpf$ processors q(2, 2, 1)\n!hpf$ template v(0:10, 0:10, 0:10)\n"
        "!hpf$ align x(i, j) with v(2*j, i+2, 1)\n!hpf$ align y(i) with v(1, i+1, 2)\n"
        "!hpf$ distribute v(cyclic(2), cyclic(2), cyclic(1))\n"
        "do i = 1, 5\ndo j = 1, 5\nx(i, j) = y(i) + 1\nend do\nend do\nend\n"
    )
    v = program.templates["v"]
    expected = {
        (v.grid.number((0, a, 0)), v.grid.number((c, b, 0))) for a, b, c in itertools.product(range(2), repeat=3)
    }
    assert pattern(one, owners, (v, v), scope) == expected


def test_what_is_unknown() -> None:
    text = (
        "program p\nreal, dimension(0:40) :: a, b\n!hpf$ processors q(4)\n!hpf$ template t(0:40)\n"
        "!hpf$ align (i) with t(i) :: a, b\n!hpf$ distribute t(cyclic(3))\ndo i = {}, {}\na(i) = b(i-1)\nend do\nend\n"
    )
    one, owners, program, scope = _only(text.format(1, "n"))
    t = program.templates["t"]
    shift = {(k, k) for k in range(4)} | {(k, (k + 1) % 4) for k in range(4)}
    assert pattern(one, owners, (t, t), scope) == shift
    one, owners, program, scope = _only(text.format("m", "n"))
    assert len(pattern(one, owners, (t, t), scope)) == 16
    everyone = Descriptor("a", (Affine(4),), None, ())
    assert pattern(everyone, owners, (t, None), scope) == {(1, k) for k in range(4)}
    unknown = Descriptor("a", (Affine.of("k"),), "t", (Affine(3),))
    assert len(pattern(unknown, owners, (t, t), scope)) == 16
    assert (
        pattern(Descriptor("a", (Affine(4),), "t", (Affine(3),), (Range("i", Affine(3), Affine(2)),)), owners, (t, t))
        == set()
    )


def _by_hand(one: Descriptor, owners: Owners, program: ArrayProgram) -> Pairs:
    pairs = set()
    for element, point in delivered(one, {}):
        name, at = owners.point(one.array, element)
        assert name is not None
        assert one.template is not None
        pairs.add(
            (owners.processor(program.templates[name], at), owners.processor(program.templates[one.template], point))
        )
    return frozenset(pairs)


def test_several_dimensions_against_all_elements() -> None:
    chance = random.Random(5)
    for _ in range(200):
        build = ProgramBuilder("p", (chance.randint(1, 4), chance.randint(1, 3)))
        kinds = [chance.choice(["block", "cyclic", "cyclic(2)", "cyclic(3)"]) for _ in range(4)]
        one_template = build.template("t", (24, 24), kinds[:2])
        other = build.template("u", (24, 24), kinds[2:])
        a = build.array("a", (24, 24), one_template, chance.choice([[(0, 1, 0), (1, 1, 0)], [(1, 1, 0), (0, 1, 0)]]))
        b = build.array("b", (24, 24), chance.choice([one_template, other]))

        def subscript(*names: Affine) -> Affine | int:
            kind = chance.random()
            if kind < 0.15:
                return chance.randint(0, 23)
            if kind < 0.25:
                return names[0] + names[1]
            return chance.choice(names) * chance.choice([1, 1, 2]) + chance.randint(0, 2)

        with build.loop("i", chance.randint(0, 5), chance.randint(6, 11), chance.randint(1, 3)) as i:
            with build.loop("j", 0, chance.randint(1, 11)) as j:
                a[subscript(i, j), subscript(j, i)] = b[subscript(i, j), subscript(j, i)]
        program = build.program()
        owners = Owners(program)
        for _, one in initial(program).descriptors():
            loops = [Range("i", *_loop(program, 0)), Range("j", *_loop(program, 1))]
            whole = Descriptor(one.array, one.region, one.template, one.destination, tuple(loops))
            template = program.arrays[one.array].template
            assert template is not None
            assert one.template is not None
            distributions = (program.templates[template], program.templates[one.template])
            assert pattern(whole, owners, distributions) == _by_hand(whole, owners, program)
            assert pattern(one, owners, distributions, Scope(loops)) == _by_hand(whole, owners, program)


def _loop(program: ArrayProgram, depth: int) -> tuple[Affine, Affine, int]:
    loop = program.body[0] if depth == 0 else program.body[0].body[0]  # type: ignore[union-attr]
    return loop.range.low, loop.range.high, loop.range.step  # type: ignore[union-attr]


def _random_product(chance: random.Random) -> Product:
    """Over grids of two dimensions, in groups of any coordinates."""
    source, target = Grid((2, 3)), chance.choice([Grid((2, 3)), Grid((6,))])
    everyone = chance.random() < 0.2
    shape = source.shape if everyone else source.shape + target.shape
    at = list(range(len(shape)))
    chance.shuffle(at)
    groups = []
    while at:
        count = chance.randint(1, len(at))
        members, at = at[:count], at[count:]
        every = list(itertools.product(*(range(shape[one]) for one in members)))
        few = chance.choice([0, 1, 1, 1, 1, 1])
        groups.append((tuple(members), frozenset(chance.sample(every, chance.randint(few, len(every))))))
    return Product(source, target, tuple(groups), everyone)


def test_products_are_asked_as_they_are() -> None:
    """Length, membership and inclusion as those of the pairs one by one."""
    chance = random.Random(3)
    products = [_random_product(chance) for _ in range(120)]
    pairs = [one.pairs() for one in products]
    told = 0
    for one, own in zip(products, pairs, strict=True):
        assert len(one) == len(own)
        assert {(a, b) for a in range(6) for b in range(6) if (a, b) in one} == own
        for other, others in zip(products, pairs, strict=True):
            alike = (one.target, one.everyone) == (other.target, other.everyone)
            assert one.covers(other) == (others <= own) if alike or not others else not one.covers(other)
            told += bool(others) and one is not other and one.covers(other)
    assert told > 100
    assert listed(products[:9]) == frozenset().union(*pairs[:9])
    assert listed([]) == frozenset()
