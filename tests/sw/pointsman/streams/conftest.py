"""Fixtures of the tests of streams and their judge."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pointsman.images import Images
from pointsman.streams.check import check_images


@pytest.fixture
def change(mutations_by_hand: ModuleType) -> ModuleType:
    """Short for the changes of images."""
    return mutations_by_hand


@pytest.fixture
def breaks() -> Callable[[str, str, Images], None]:
    """Judge images that break a rule and no other, which the first finding says with a message."""

    def judge(rule: str, message: str, images: Images) -> None:
        report = check_images(images)
        assert report.rules == (rule,), report.render()
        assert report.findings[0].message == message, report.render()
        assert report.findings[0].right

    return judge


@pytest.fixture
def shows() -> Callable[[str, str, Images], None]:
    """Judge images that break a rule, which some finding says with a message, and cannot but break others too."""

    def judge(rule: str, message: str, images: Images) -> None:
        report = check_images(images)
        assert (rule, message) in [(finding.rule, finding.message) for finding in report.findings], report.render()

    return judge


def _load(name: str) -> ModuleType:
    """The module ``name`` beside this file; with --import-mode=importlib it cannot be imported by name."""
    key = f"streams_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


@pytest.fixture(scope="session")
def replay() -> ModuleType:
    """The judge of routed phases (replay.py)."""
    return _load("replay")


@pytest.fixture(scope="session")
def patterns() -> ModuleType:
    """Streams to route (patterns.py)."""
    return _load("patterns")
