"""Fixtures of the tests of the judge."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from pointsman.artifacts.images import Images
from pointsman.verify.images import check_images


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
