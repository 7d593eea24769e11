"""Fixtures shared by the tests of all of pointsman."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from command_calls import COP, call
from loading import module_at
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline

SMALL = (
    "stream_1x2",
    "delay_1x3",
    "broadcast_1x3",
    "merge_1x3",
    "two_phases_2x2",
    "runtime_broadcast_1x3",
    "two_runtime_broadcasts_2x3",
)


def _load(name: str) -> ModuleType:
    """The module ``name`` beside this file; with --import-mode=importlib it cannot be imported by name."""
    return module_at(Path(__file__).with_name(f"{name}.py"))


@pytest.fixture(scope="session")
def by_hand() -> ModuleType:
    """Builders of images without the compiler (images_by_hand.py)."""
    return _load("images_by_hand")


@pytest.fixture(params=SMALL)
def small(by_hand: ModuleType, request: pytest.FixtureRequest) -> Callable[[], Images]:
    """Makes small legal images: each of those that the builder lists."""
    assert tuple(by_hand.SMALL) == SMALL
    return by_hand.SMALL[request.param]


@pytest.fixture(scope="session")
def mutations_by_hand() -> ModuleType:
    """Single changes of images (mutations_by_hand.py)."""
    return _load("mutations_by_hand")


@pytest.fixture(scope="session")
def mesh_by_hand() -> ModuleType:
    """A slow and plain model of the nodes (mesh_by_hand.py)."""
    return _load("mesh_by_hand")


@pytest.fixture(scope="session")
def ring_application() -> ModuleType:
    """An application with a program of one of several kinds (ring_application.py)."""
    return _load("ring_application")


@pytest.fixture(scope="session")
def small_plan() -> Plan:
    """Three nodes in a row, two phases: a broadcast whose source is known at run time only, and a shift."""
    program = compile_text("(loop 'l 3 (broadcast 'b (runtime) :m 2) (cshift 'c 1 :m 2))", topology=mesh(3))
    return make_plan(program, NodeShape(), name="p", structures=[outline(program)])


@pytest.fixture(scope="session")
def matmul_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Image of the matrix multiplication of 8×8 on 2×2 nodes."""
    path = tmp_path_factory.mktemp("image") / "matmul.image"
    call("compile", COP, "--mesh", "2x2", "--set", "block=16", "-o", path)
    return path
