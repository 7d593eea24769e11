"""Writes docs/json.md, every key of the JSON that commands write, from docs/json_keys.toml.

python docs/make_json.py
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "json.md"
KEYS = HERE / "json_keys.toml"
HEAD = """\
# JSON, key by key

Made by `docs/make_json.py` from `docs/json_keys.toml`; a test runs the commands and compares. Dots lead into objects,
`[]` into each item of a list, `*` stands for any name. Cycles, words, slots and seconds are the units throughout; places in
lists count from 0. Keys may be added in later versions, so readers should ignore keys that they do not know.

Of other forms: [images](image_format.md) are binary, and `compile --emit images` prints the same as JSON ([below](#images));
the document of [show](show.md#the-document) is described with the pages that it makes; what commands *read* is on the pages of
[routing](routing.md), [connections](connections.md) and [sweep](sweep.md).
"""
TAIL = """
## Images

`pointsman compile PROGRAM --emit images` prints what an image file holds. Keys are the attributes of these classes.

```{eval-rst}
.. automodule:: pointsman.artifacts.images.images
   :members:
   :undoc-members:
   :noindex:
```
"""


def documents() -> list[dict[str, Any]]:
    """The documents of ``json_keys.toml``, in order; each with ``keys`` and ``sometimes``."""
    found = tomllib.loads(KEYS.read_text(encoding="utf-8"))["document"]
    return [{"about": "", "keys": {}, "sometimes": {}, **one} for one in found]


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for one in documents():
        lines += [f"## {one['title']}", "", f"Written by {one['written']}.", ""]
        if one["about"]:
            lines += [one["about"], ""]
        lines += ["| key | meaning |", "|---|---|"]
        for key, meaning in (*one["keys"].items(), *one["sometimes"].items()):
            lines.append(f"| `{key}` | {meaning.removeprefix('Always: ')} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n" + TAIL


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
