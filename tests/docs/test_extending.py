"""The page on implementations of one's own names all that an implementation may say."""

from __future__ import annotations

import re
from pathlib import Path

from pointsman.operators import Implementation

PAGE = (Path(__file__).parents[2] / "docs/extending.md").read_text(encoding="utf-8")


def test_every_attribute_of_an_implementation_is_explained() -> None:
    terms = re.findall(r"^(`\w+.*)\n: ", PAGE, re.MULTILINE)
    explained = {name for term in terms for name in re.findall(r"`(\w+)", term)}
    public = {name for name in (*vars(Implementation), *Implementation.__annotations__) if not name.startswith("_")}
    assert explained == public
