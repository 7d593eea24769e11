"""What is common to all tests."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Look for cyclic garbage seldom, and not among the tests themselves: otherwise it takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
