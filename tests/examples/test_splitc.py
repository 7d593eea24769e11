"""The Split-C programs: right on every target, on one processor and on many, with odd sizes and equal keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pointsman
from pointsman.network import mesh

EXAMPLES = Path(__file__).parents[2] / "examples/splitc"
SORTS = ("bitonic", "column", "radix", "sample")


def _run(name: str, size: tuple[int, ...], arguments: dict[str, Any], **options: Any) -> Any:
    done = pointsman.run(EXAMPLES / f"{name}.py", mesh(*size), arguments=arguments, **options)
    assert done.correct, done.text
    return done


@pytest.mark.parametrize("algorithm", SORTS)
@pytest.mark.parametrize(
    ("size", "keys", "key_bits"),
    [((1, 1), 7, 31), ((2, 1), 1, 31), ((3, 1), 50, 2), ((5, 3), 211, 31), ((4, 4), 400, 0), ((2, 3), 0, 31)],
)
def test_sorts_are_numpy_sort(algorithm: str, size: tuple[int, ...], keys: int, key_bits: int) -> None:
    arguments = {"algorithm": algorithm, "keys": keys, "key_bits": key_bits}
    _run("sort", size, arguments, target="logp", logp="cm5,delay=200")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SORTS)
def test_64_processors_sort(algorithm: str) -> None:
    _run("sort", (8, 8), {"algorithm": algorithm, "keys": 6401, "bits": 16}, target="logp", logp="cm5")


ABSTRACT = [("matmul", {"size": 9}), ("em3d", {"nodes": 5}), ("em3d", {"nodes": 4, "blocking": True})]


@pytest.mark.parametrize(("name", "arguments"), ABSTRACT)
@pytest.mark.parametrize("size", [(1, 1), (3, 1), (4, 4)])
def test_matrices_and_graphs_on_the_abstract_machine(
    name: str, arguments: dict[str, Any], size: tuple[int, ...]
) -> None:
    _run(name, size, arguments, target="logp")


HARDWARE = [
    ("packet", "sort", {"algorithm": "radix", "keys": 21, "bits": 4, "key_bits": 31}),
    ("tdm", "sort", {"algorithm": "sample", "keys": 37}),
    ("tdm", "matmul", {"size": 6}),
    ("packet", "em3d", {"nodes": 3}),
]


@pytest.mark.parametrize(("target", "name", "arguments"), HARDWARE)
def test_the_same_programs_on_hardware(target: str, name: str, arguments: dict[str, Any]) -> None:
    _run(name, (2, 2), arguments, target=target, engine="model")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SORTS)
@pytest.mark.parametrize("target", ["numesh", "tdm", "packet"])
def test_every_sort_on_every_target(target: str, algorithm: str) -> None:
    _run("sort", (2, 2), {"algorithm": algorithm, "keys": 45}, target=target, engine="model")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"), [("matmul", {"size": 6}), ("em3d", {"nodes": 3}), ("sort", {"keys": 30})]
)
def test_programs_on_scheduled_routers_compiled_from_the_rtl(name: str, arguments: dict[str, Any]) -> None:
    _run(name, (2, 2), arguments, engine="verilated")
