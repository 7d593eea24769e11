"""A JSON file of the user's -> what it says: decoded by its form, and what is wrong said with the file's name.

Leaves alone: what the contents mean, which ``make`` of `read_json` knows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from pointsman.errors import PointsmanError
from pointsman.files import read_text

Form = TypeVar("Form")
Made = TypeVar("Made")


def read_json(path: Path, what: str, form: type[Form], make: Callable[[Form], Made], *, page: str) -> Made:
    """What ``make`` makes of the contents of a file.

    Parameters
    ----------
    what : str
        Name of the kind of file, for messages.
    form : type
        What the contents must be.
    page : str
        Page of the documentation that shows the form.

    Raises
    ------
    PointsmanError
        If the file cannot be read or is wrong; the message has the place of the first fault.
    """
    text = read_text(path, what)
    try:
        return make(msgspec.json.decode(text, type=form))
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(f"{path}: {error or 'nested too deeply'}", hint=f"{page} shows the form") from None
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint) from None
