"""Images changed at random: what the judge lets pass must do no harm in a mesh that is followed cycle by cycle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from pointsman.artifacts.images import Images
from pointsman.verify.images import RULES, check_images


def choices(images: Images, phase: int) -> Iterator[dict[int, int]]:
    """Every value of each operator of the phase, others at their first."""
    yield {}
    for index in images.phases[phase].operators:
        for value in range(1, len(images.operators[index].values)):
            yield {index: value}


def harm(images: Images, mesh_by_hand: ModuleType) -> list[str]:
    """What goes wrong in the mesh: words lost, doubled, in the wrong place or too slow."""
    wrong = []
    for phase in range(len(images.phases)):
        for choice in choices(images, phase):
            wrong += mesh_by_hand.broken_promises(images, phase, choice)
            held = mesh_by_hand.promises_held(images, phase, choice)
            streams = Counter(promise.stream for promise in held.values())
            for number, promise in held.items():
                # Sources of one collect send one at a time, and here all would.
                if streams[promise.stream] == 1:
                    rate = mesh_by_hand.rate(images, phase, choice, number)
                    if rate != promise.words:
                        wrong.append(f"promise {number}: {rate} words per period instead of {promise.words}")
    return wrong


def test_legal_images_keep_their_promises_in_a_mesh(mesh_by_hand: ModuleType, small: Callable[[], Images]) -> None:
    images = small()
    assert check_images(images).ok
    assert harm(images, mesh_by_hand) == []


def test_a_mesh_shows_what_the_judge_finds(
    by_hand: ModuleType, mesh_by_hand: ModuleType, mutations_by_hand: ModuleType
) -> None:
    """Guard of the model: it can tell that something is wrong."""
    images = by_hand.broadcast_1x3()
    # The first leg is marked, so it holds its words in the slots in which the second is gone.
    halved = mutations_by_hand.with_entry(images, 1, 0, 6, 0, 0)
    assert "promise 0: 1.0 words per period instead of 2" in harm(halved, mesh_by_hand)
    slow = by_hand.delay_1x3()
    slow = mutations_by_hand.with_entry(slow, 1, 0, 13, 0, 0)
    assert "promise 0: 1.0 words per period instead of 2" in harm(slow, mesh_by_hand)


def judge_mutations(
    by_hand: ModuleType, change: ModuleType, mesh_by_hand: ModuleType, *, count: int, seed: int
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Tried and passed mutations by kind, and the rules that caught the others. What passes must do no harm."""
    tried: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for name in by_hand.SMALL:
        images = by_hand.SMALL[name]()
        generator = random.Random(f"{seed} {name}")
        for _ in range(count):
            kind, what, changed = change.mutate(images, generator)
            report = check_images(changed)
            assert report.render()
            tried[kind] += 1
            rules.update(report.rules)
            if report.ok:
                passed[kind] += 1
                assert harm(changed, mesh_by_hand) == [], f"{name}, seed {seed}: {what}"
    return tried, passed, rules


def test_random_changes_are_found_or_harmless(
    by_hand: ModuleType, mutations_by_hand: ModuleType, mesh_by_hand: ModuleType
) -> None:
    tried, passed, rules = judge_mutations(by_hand, mutations_by_hand, mesh_by_hand, count=60, seed=1)
    # What passes by its nature: an idle slot for another, a free block, a type of move that means the same, a technique
    # where nothing follows. Whatever moves a word elsewhere must be found.
    assert sum(passed.values()) < 0.12 * sum(tried.values()), passed
    for kind in (
        "move_slot",
        "drop_annotation",
        "drop_rewrite",
        "drop_lane",
        "change_promise",
        "drop_promise",
        "drop_part",
    ):
        assert passed[kind] == 0, kind
    assert set(tried) == {mutation.__name__ for mutation in mutations_by_hand.MUTATIONS}
    assert len(rules) > len(RULES) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_random_changes_are_found_or_harmless(
    by_hand: ModuleType, mutations_by_hand: ModuleType, mesh_by_hand: ModuleType, seed: int
) -> None:
    judge_mutations(by_hand, mutations_by_hand, mesh_by_hand, count=100, seed=seed)
    # Several changes at once, from a generator of its own.
    generator = random.Random(seed)
    kinds = [
        getattr(mutations_by_hand, kind)
        for kind in (
            "move_slot",
            "rename_slot",
            "change_annotation",
            "move_annotation",
            "swap_pipelines",
            "change_rewrite",
            "change_promise",
            "change_role_of",
        )
    ]
    for _ in range(1500):
        name = generator.choice(list(by_hand.SMALL))
        images, changes = by_hand.SMALL[name](), []
        for _ in range(generator.choice([2, 3])):
            found = generator.choice(kinds)(images, generator)
            if found is not None:
                changes.append(found[0])
                images = found[1]
        if check_images(images).ok:
            assert harm(images, mesh_by_hand) == [], f"{name}, seed {seed}: {changes}"
