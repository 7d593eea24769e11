"""TOML as plain values, and one line about what is no TOML, or more than Python reads."""

from __future__ import annotations

import sys
import tomllib
from typing import Any

from pointsman.errors import PointsmanError


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises
    ------
    PointsmanError
        If it is no TOML, is nested too deeply, or has a number of too many digits.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PointsmanError(f"no TOML: {error}") from None
    except RecursionError:
        raise PointsmanError("no TOML that can be read: it is nested too deeply") from None
    except ValueError:  # of int(), which takes time that grows with the square of the digits
        most = sys.get_int_max_str_digits()
        raise PointsmanError(f"no TOML that can be read: a number has more than {most} digits") from None
