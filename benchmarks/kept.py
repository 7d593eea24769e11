"""Results of a benchmark, kept in a file, as the argument of an option."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import read_text


def kept(benchmark: str, *keys: str) -> Callable[[str], dict[str, Any]]:
    """For ``type`` of an option: reads a file of results of this benchmark, which have these keys.

    What is no such file is argparse's own error: one line, exit status 2.
    """

    def results(name: str) -> dict[str, Any]:
        try:
            found = json.loads(read_text(Path(name), "file of results"))
        except PointsmanError as error:
            raise argparse.ArgumentTypeError(error.message) from None
        except (ValueError, RecursionError):
            raise argparse.ArgumentTypeError(f"{name} is no JSON") from None
        if not isinstance(found, dict) or any(key not in found for key in keys):
            raise argparse.ArgumentTypeError(
                f"{name} holds no results of this benchmark: give a file that benchmarks/{benchmark}.py has printed"
            )
        return found

    return results
