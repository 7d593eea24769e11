"""COP for Pygments: colours for ``cop`` blocks of documents and for ``*.cop`` files.

Registered by the entry point ``pygments.lexers``. The words are taken from the language's own tables, so they are complete.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from pointsman.cop.library.library import LIBRARY
from pointsman.program.catalogue import OPERATORS

from .compile import FORMS, prelude
from .evaluation.evaluator import Compound
from .evaluation.geometry import NETWORK_VARIABLES

_END = r"""(?=[ \t\r\n\f()'";`,]|$)"""
_GROUPS = ("loop", "sequential", "parallel", "optional", "phase", "subset", "doall", "runtime")
_COMPOUND = tuple(name for name, value in prelude()[1].values.items() if isinstance(value, Compound))
_VARIABLES = (*NETWORK_VARIABLES, "*mode*", "*schedlen*", "*min*", "**min**")


class CopLexer(RegexLexer):
    """The language of communication operators (Metcalf 1997)."""

    name = "COP"
    aliases = ("cop",)
    filenames = ("*.cop",)
    version_added = ""

    tokens: ClassVar = {
        "root": [
            (r"[ \t\r\n\f]+", Text.Whitespace),
            (r";[^\r\n]*", Comment.Single),
            (r'"(?:[^"\\]|\\.)*"', String),
            (r"(?<=\()" + words([*OPERATORS, *_COMPOUND], suffix=_END).get(), Name.Builtin),
            (r"(?<=\()" + words(_GROUPS, suffix=_END).get(), Keyword.Reserved),
            (r"(?<=\()" + words([*(set(FORMS) - set(OPERATORS) - set(_GROUPS))], suffix=_END).get(), Keyword),
            (r"(?<=\()" + words([*(set(LIBRARY) - set(_VARIABLES))], suffix=_END).get(), Name.Function),
            (words(_VARIABLES, suffix=_END), Name.Variable.Global),
            (r":[^ \t\r\n\f()'\";`,]+", Name.Attribute),
            (r"'[A-Za-z_][^ \t\r\n\f()'\";`,]*", Name.Label),
            (words(("t", "nil", "#t", "#f"), suffix=_END), Keyword.Constant),
            (r"[+-]?\d+/\d+" + _END, Number),
            (r"[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?" + _END, Number),
            (r",@|[()'`,]", Punctuation),
            (r"[^ \t\r\n\f()'\";`,]+", Name),
            (r".", Text),
        ]
    }
