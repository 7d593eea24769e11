"""A JSON file of the user's, or its values -> what they say: decoded by their form, and what is wrong said with the file's name.

Leaves alone: what the contents mean, which ``make`` of `read_json` knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pointsman.errors import PointsmanError
from pointsman.files import read_text

Form = TypeVar("Form")
Made = TypeVar("Made")


def read_json(
    given: Path | Mapping[str, Any], what: str, form: type[Form], make: Callable[[Form], Made], *, page: str
) -> Made:
    """What ``make`` makes of the contents of a file.

    Parameters
    ----------
    given : path or mapping
        The file, or what it would have: plain values, as `json.load` gives them.
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
    text, name = (None, f"values of a {what}") if isinstance(given, Mapping) else (read_text(given, what), str(given))
    try:
        return make(msgspec.convert(given, form) if text is None else msgspec.json.decode(text, type=form))
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        hint = f"{_words_for(form, str(error))}{page} shows the form"
        raise PointsmanError(f"{name}: {error or 'nested too deeply'}", hint=hint) from None
    except PointsmanError as error:
        raise PointsmanError(f"{name}: {error.message}", hint=error.hint) from None


def _words_for(form: type, fault: str) -> str:
    """Which words may stand in a field that is missing or wrong, by what msgspec says of it; nothing of other fields."""
    missing = re.match(r"Object missing required field `(\w+)`", fault)
    place = re.search(r" - at `\$([^`]*)`$", fault)
    way = re.findall(r"\.(\w+)|(\[)", place[1] if place else "") + ([(missing[1], "")] if missing else [])
    found: msgspec.inspect.Type | None = msgspec.inspect.type_info(form)
    last = ""
    for name, is_element in way:
        if isinstance(found, msgspec.inspect.UnionType):  # what may be left out
            found = next((one for one in found.types if not isinstance(one, msgspec.inspect.NoneType)), found)
        if isinstance(found, msgspec.inspect.StructType) and not is_element:
            found = next((field.type for field in found.fields if field.encode_name == name), None)
            last = name
        elif isinstance(found, msgspec.inspect.ListType):
            found = found.item_type
        else:
            return ""
    return (
        f"{last} is one of {', '.join(map(str, found.values))}; "
        if isinstance(found, msgspec.inspect.LiteralType)
        else ""
    )
