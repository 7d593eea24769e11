"""Text to forms, and values back to text.

Takes a `Source`, gives a list of forms (atoms and lists with their offsets). Nothing here recurses, so nesting costs
memory only. Non-goals: dotted pairs, reader macros; nothing in the text is ever run here.

Values of the language are Python values: `Symbol`, `Keyword`, ``str`` (a string), ``int`` and ``Fraction`` (exact
numbers), ``tuple`` (a list; the empty list is also "false"). ``t`` is the symbol of that name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from pointsman.cop.limits import DEFAULT_LIMITS, Limits
from pointsman.program.program import Runtime

from .source import Source


class Symbol(str):
    """A name."""

    __slots__ = ()


class Keyword(str):
    """A name that begins with a colon and stands for itself."""

    __slots__ = ()


TRUE = Symbol("t")
FALSE: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class Atom:
    """A number, string, symbol, keyword or the empty list, at an offset."""

    value: object
    at: int


@dataclass(slots=True, eq=False)
class ListForm:
    """A parenthesised list of one or more forms; ``datum`` keeps its value once it has been quoted."""

    items: tuple[Form, ...]
    at: int
    datum: tuple[object, ...] | None = None


Form = Atom | ListForm

QUOTE = Symbol("quote")
QUASIQUOTE = Symbol("quasiquote")
UNQUOTE = Symbol("unquote")
SPLICE = Symbol("unquote-splicing")
_QUOTES = {"'": QUOTE, "`": QUASIQUOTE, ",": UNQUOTE, ",@": SPLICE}
EMBEDDED = re.compile(r"[ \t]*;[ \t]*/\*[ \t]*(?:\r\n|\r|\n|$)")
"""First line of a COP text that is the head of a C file (Metcalf 1997, §8.1.1); the COP text ends with C's comment."""
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n\f]+|;[^\r\n]*)
      | (?P<mark>[()'`]|,@?)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<word>[^ \t\r\n\f()'";`,|\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_RATIO = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_WRITTEN = {value: "\\" + key for key, value in _ESCAPES.items()}
_LOOKALIKES = {
    "\u2018": "'",
    "\u2019": "'",
    "\u00b4": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2212": "-",
    "\u2013": "-",
    "\uff08": "(",
    "\uff09": ")",
    "\uff1a": ":",
    "\u00d7": "*",
    "\u2217": "*",
}


def read(source: Source, limits: Limits = DEFAULT_LIMITS) -> list[Form]:
    """All forms of the text.

    Raises
    ------
    CopError
        At the first place where the text is not a sequence of forms.
    CopLimitError
        If the text is longer, has more forms or greater numbers than ``limits`` allows.
    """
    text = source.text
    if len(text) > limits.text:
        raise source.limit(0, "text", limits.text, f"the text has {len(text)} characters")
    end = _end_of_embedded(text)
    if control := _CONTROL.search(text, 0, end):
        raise source.error(
            control.start(),
            f"character {_codepoint(control.group())} may not stand in a COP text",
            hint="a COP text is plain UTF-8",
        )
    top: list[Form] = []
    current = top
    waiting: list[tuple[int, Symbol]] = []  # quotes of the current list that wait for a form
    open_lists: list[tuple[list[Form], int, list[tuple[int, Symbol]]]] = []  # around each open list; its offset
    none: list[tuple[int, Symbol]] = []  # shared by all lists in which no quote waits; never changed
    flush: tuple[int, int] | None = None  # the first list that begins a line within another, and that other
    count = 0
    at = 1 if text.startswith("\ufeff") else 0
    while at < end:
        token = _TOKEN.match(text, at, end)
        if token is None:
            raise _bad_character(source, at)
        start, at = at, token.end()
        if token.lastgroup == "blank":
            continue
        word = token.group()
        if word != ")":
            count += 1
            if count > limits.forms:
                raise source.limit(start, "forms", limits.forms, "the text has too many forms")
        if word == "(":
            if open_lists and flush is None and text[start - 1] in "\r\n":
                flush = (start, open_lists[-1][1])
            open_lists.append((current, start, waiting or none))
            current, waiting = [], []
            continue
        if token.lastgroup == "mark" and word != ")":
            count += 1  # a quote makes a list and a name
            waiting.append((start, _QUOTES[word]))
            continue
        form: Form
        if word == ")":
            if not open_lists:
                raise source.error(start, "this parenthesis closes nothing")
            if waiting:
                raise source.error(waiting[-1][0], "nothing follows this quote")
            items = current
            current, current_start, waiting = open_lists.pop()
            if not open_lists:
                flush = None
            form = ListForm(tuple(items), current_start) if items else Atom(FALSE, current_start)
        elif token.lastgroup == "string":
            form = Atom(_string(source, start, word, limits), start)
        else:
            form = Atom(_word(source, start, word, limits), start)
        if waiting:
            for quote, name in reversed(waiting):
                form = ListForm((Atom(name, quote), form), quote)
        if waiting or waiting is none:
            waiting = []
        current.append(form)
    if open_lists:
        raise _never_closed(source, open_lists[-1][1], flush, end)
    if waiting:
        raise source.error(waiting[-1][0], "nothing follows this quote")
    return top


def as_library(forms: list[Form]) -> list[Form]:
    """The same forms with negative offsets, ``~at``, which mark them as not from the user's text."""
    stack = list(forms)
    while stack:
        form = stack.pop()
        form.at = ~form.at
        if isinstance(form, ListForm):
            stack.extend(form.items)
    return forms


def datum(form: Form) -> object:
    """The value that quoting the form gives."""
    if isinstance(form, Atom):
        return form.value
    if form.datum is None:
        stack = [form]
        while stack:
            inner = stack[-1]
            waiting = [item for item in inner.items if isinstance(item, ListForm) and item.datum is None]
            if waiting:
                stack.extend(waiting)
                continue
            inner.datum = tuple(item.value if isinstance(item, Atom) else item.datum for item in inner.items)
            stack.pop()
    return form.datum


def write(value: object, longest: int | None = None) -> str:
    """A value as text that reads to an equal value; cut off after ``longest`` characters.

    Values that cannot be read, such as procedures, are written as ``#<…>``.
    """
    pieces: list[str] = []
    length = 0
    stack = [iter((value,))]
    while stack:
        if longest is not None and length > longest:
            return "".join(pieces)[: longest - 1].rstrip() + "…"
        for item in stack[-1]:
            space = " " if pieces and pieces[-1] != "(" else ""
            if isinstance(item, tuple):
                pieces.append(space)
                pieces.append("(")
                stack.append(iter(item))
            else:
                pieces.append(space + write_atom(item))
            length += len(pieces[-1]) + 1
            break
        else:
            stack.pop()
            if stack:
                pieces.append(")")
                length += 1
    return "".join(pieces)


def write_atom(value: object) -> str:
    """An atom (any value but a list) as text."""
    if isinstance(value, Symbol | Keyword):
        return str.__str__(value)
    if isinstance(value, str):
        return '"' + "".join(_WRITTEN.get(c, c) for c in value) + '"'
    if isinstance(value, Runtime):
        return "(runtime)" if value.values is None else "(runtime :values …)"
    return str(value)


def show(value: object) -> str:
    """A value for a message: short."""
    return write(value, 60)


def _end_of_embedded(text: str) -> int:
    """Offset of the COP text's end: the end of the C comment around it, or of the whole text."""
    head = EMBEDDED.match(text, 1 if text.startswith("\ufeff") else 0)
    if head is None:
        return len(text)
    end = text.find("*/", head.end())
    return len(text) if end < 0 else end


def _word(source: Source, at: int, word: str, limits: Limits) -> object:
    if word[0].isdigit() or word[0] in "+-.":
        if (number := _number(source, at, word, limits)) is not None:
            return number
        if word == ".":
            raise source.error(at, "dotted pairs are not part of COP", hint="write a list, (a b)")
        if word[0].isdigit() and word not in ("1+", "1-"):
            raise source.error(at, f"'{_short(word)}' is neither a number nor a name")
    if word.isascii() and word.isprintable():
        pass  # no character that needs a closer look
    elif not word.isprintable() or any(c.isspace() for c in word) or any(c in _LOOKALIKES for c in word):
        bad = next(i for i, c in enumerate(word) if not c.isprintable() or c.isspace() or c in _LOOKALIKES)
        raise _bad_character(source, at + bad)
    if word[0] == "#":
        if word in ("#t", "#f"):
            return TRUE if word == "#t" else FALSE
        raise source.error(at, f"'{_short(word)}' is not part of COP", hint="true is t, false is nil")
    if word == "nil":
        return FALSE
    if word[0] == ":":
        if len(word) == 1:
            raise source.error(at, "a colon must be followed by the name of an argument")
        return Keyword(word)
    return Symbol(word)


def _number(source: Source, at: int, word: str, limits: Limits) -> int | Fraction | None:
    digits = limits.number_bits * 302 // 1000 + 2  # more decimal digits than this have too many bits
    value: int | Fraction
    if _INTEGER.fullmatch(word):
        if len(word.lstrip("+-0")) > digits:
            raise _too_big(source, at, limits)
        value = int(word.lstrip("+-").lstrip("0") or "0") * (-1 if word[0] == "-" else 1)
    elif ratio := _RATIO.fullmatch(word):
        above, below = ratio.groups()
        if len(above) > digits or len(below) > digits:
            raise _too_big(source, at, limits)
        if not int(below):
            raise source.error(at, "the denominator of a ratio may not be zero")
        value = Fraction(int(above), int(below))
    elif decimal := _DECIMAL.fullmatch(word):
        exponent = decimal.group(1) or "0"
        if len(word) > digits or len(exponent) > 6 or abs(int(exponent)) > digits:
            raise _too_big(source, at, limits)
        value = Fraction(word)
    else:
        return None
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > limits.number_bits:
            raise _too_big(source, at, limits)
        return value.numerator if value.denominator == 1 else value
    if value.bit_length() > limits.number_bits:
        raise _too_big(source, at, limits)
    return value


def _too_big(source: Source, at: int, limits: Limits) -> Exception:
    return source.limit(at, "number_bits", limits.number_bits, "this number has too many bits")


def _string(source: Source, at: int, word: str, limits: Limits) -> str:
    if len(word) - 2 > limits.list_length:
        raise source.limit(at, "list_length", limits.list_length, "this string is too long")
    pieces = []
    inner = iter(enumerate(word[1:-1], at + 1))
    for place, character in inner:
        if character == "\\":
            _, escaped = next(inner)
            if escaped not in _ESCAPES:
                raise source.error(
                    place, f"'\\{_short(escaped)}' means nothing in a string", hint='known are \\n \\t \\r \\" \\\\'
                )
            character = _ESCAPES[escaped]
        elif not character.isprintable() and character not in "\n\r\t":
            raise _bad_character(source, place)
        pieces.append(character)
    return "".join(pieces)


def _bad_character(source: Source, at: int) -> Exception:
    character = source.text[at]
    if character == '"':
        return source.error(at, "this string is never closed")
    if character in "|\\":
        return source.error(at, f"'{character}' is not part of COP")
    if character in _LOOKALIKES:
        return source.error(
            at,
            f"character {_codepoint(character)} is not part of COP",
            hint=f"it looks like {_LOOKALIKES[character]} but is another character",
        )
    if character.isspace():
        return source.error(at, f"character {_codepoint(character)} is not a space of COP", hint="use an ASCII space")
    return source.error(at, f"character {_codepoint(character)} may not stand in a COP text")


def _never_closed(source: Source, at: int, flush: tuple[int, int] | None, end: int) -> Exception:
    """Error for an unclosed list: the innermost, or the list before a list that begins a line as top-level lists do."""
    if flush is not None:
        return source.error(
            flush[1],
            "this parenthesis is never closed",
            notes=[(flush[0], "a list that begins in column 1 while it is still open")],
        )
    hint = "the COP part of a C file ends at the first */" if end < len(source.text) else None
    return source.error(at, "this parenthesis is never closed", hint=hint)


def _codepoint(character: str) -> str:
    return f"U+{ord(character):04X}"


def _short(word: str) -> str:
    cleaned = "".join(c if c.isprintable() else "?" for c in word[:40])
    return cleaned + ("…" if len(word) > 40 else "")
