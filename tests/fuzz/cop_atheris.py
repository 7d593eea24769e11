"""Coverage-guided fuzzing of the language with atheris; `make fuzz`.

Half of the inputs are texts as they come, half are programs that `cop_grammar` writes from the same bytes.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["pointsman.cop"]):
    import pointsman.cop.compile

from cop_grammar import Grammar
from cop_inputs import NETWORKS, check

assert pointsman.cop.compile.FORMS


def one_input(data: bytes) -> None:
    """Make a text of the bytes and check it; whatever it raises is a fault."""
    provider = atheris.FuzzedDataProvider(data)
    topology = NETWORKS[provider.ConsumeIntInRange(0, len(NETWORKS) - 1)]
    if provider.ConsumeBool():
        text = provider.ConsumeUnicode(4000)
    else:
        text = Grammar(lambda n: provider.ConsumeIntInRange(0, n - 1) if n > 1 else 0, 30).program()
    check(text, topology)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
