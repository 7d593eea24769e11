"""`LIBRARY`: all functions and constants that a COP text may use without defining them."""

from __future__ import annotations

from pointsman.cop.evaluation.options import TYPES
from pointsman.cop.evaluation.values import Builtin
from pointsman.cop.text.reader import FALSE, TRUE, Symbol

from .arithmetic import NUMBERS
from .lists import CALLING
from .lists import PLAIN as LISTS
from .network import PLAIN as NETWORK
from .strings import PLAIN as STRINGS

LIBRARY: dict[str, object] = {
    **NUMBERS,
    **{name: Builtin(name, a, b, f) for names, a, b, f in (*LISTS, *STRINGS, *NETWORK) for name in names.split()},
    **{name: Builtin(name, a, b, f, calls=True) for names, a, b, f in CALLING for name in names.split()},
    **{name: Symbol(name) for name in TYPES},
    **{name: Symbol("min") for name in ("*min*", "**min**")},
    "true": TRUE,
    "false": FALSE,
}
"""Everything that a text finds defined, apart from the words of the language and the variables of the network."""
