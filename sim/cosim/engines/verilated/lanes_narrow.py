"""Variables that vectors of 32-bit lanes do not like, in other forms: values of 64 bits, and memories of bits.

*Values of 64 bits* become two words of 32 bits each, where every use of theirs is one of a few forms that Verilator writes:
an annotation that was taken apart into 35 bits is assembled from conditions, copied from stage to stage, and looked at
bit by bit. Compilers do such an assembly lane by lane, for it mixes 32 bits with 64; and two vectors hold what one could.

*Memories of bits* with at most 32 rows become one value each, for to gather bits from 16 rows costs as much as fifty
shifts. A read is a shift by the row, a write replaces a bit.

Both are changes of text, made before statements become loops. Non-goals: variables that somebody looks at from outside.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace

from .lanes_memory import closing
from .lanes_variables import Variable

_NUMBER = r"0x[0-9a-fA-F]+|\d+"


def narrowed(
    bodies: Sequence[str], variables: Sequence[Variable], seen: Container[str]
) -> tuple[list[str], list[Variable]]:
    """Statements and variables in their new forms.

    Parameters
    ----------
    bodies : sequence of str
        All statements of Verilator's that use the variables.
    variables : sequence of Variable
        All of them.
    seen : container of str
        Those that have to stay as they are.
    """
    bits = {v.name for v in variables if v.bits == 1 and 0 < v.rows <= 32 and not v.words and v.name not in seen}
    texts = [_without_rows(body, bits) for body in bodies]
    halves = {v.name for v in variables if 32 < v.bits <= 64 and not v.rows and not v.words and v.name not in seen}
    while halves:
        changed = [_in_halves(text, halves) for text in texts]
        left = {name for text in changed for name in re.findall(r"\bvlSelfRef\.(\w+)\b(?!\s*\[)", text)}
        if not left & halves:
            texts = changed
            break
        halves -= left
    forms = []
    for variable in variables:
        if variable.name in bits:
            variable = replace(variable, type="uint32_t", form="bits", cut="")
        elif variable.name in halves:
            variable = replace(variable, type="uint32_t", words=2, form="halves")
        forms.append(variable)
    return texts, forms


# -- memories of bits ----------------------------------------------------------------------------------------------


def _without_rows(text: str, names: set[str]) -> str:
    parts: list[str] = []
    at = 0
    for match in re.finditer(r"\bvlSelfRef\.(\w+)\s*(?=\[)", text):
        if match.start() < at or match[1] not in names:
            continue
        end = closing(text, match.end())
        value = f"vlSelfRef.{match[1]}"
        row = f"(0x1fU & ({_without_rows(text[match.end() + 1 : end], names)}))"
        parts.append(text[at : match.start()])
        at = end + 1
        assigned = re.match(r"\s*=(?!=)([^;]*);", text[at:])
        if assigned is None:
            parts.append(f"(1U & ({value} >> {row}))")
            continue
        word = f"(1U & ({_without_rows(assigned[1], names)}))"
        parts.append(f"{value} = (({value} & (~ (1U << {row}))) | ({word} << {row}));")
        at += assigned.end()
    return "".join([*parts, text[at:]])


# -- values of 64 bits ---------------------------------------------------------------------------------------------


def _in_halves(text: str, names: set[str]) -> str:
    """The text with all that is known to be possible done in halves; other uses stay and show that it is not."""
    any_name = "|".join(map(re.escape, sorted(names)))

    def assign(match: re.Match[str]) -> str:
        if re.search(rf"\bvlSelfRef\.{match[1]}\b", match[2]):
            return match[0]
        halves = _halves_of(match[2], names)
        if halves is None:
            return match[0]
        return " ".join(f"vlSelfRef.{match[1]}[{k}U] = {half};" for k, half in enumerate(halves))

    def shifted(match: re.Match[str]) -> str:
        low, high, by = f"vlSelfRef.{match[1]}[0U]", f"vlSelfRef.{match[1]}[1U]", int(match[2], 0)
        if by == 0:
            return low
        if by >= 32:
            return f"({high} >> {by - 32}U)" if by < 64 else "0U"
        return f"(({low} >> {by}U) | ({high} << {32 - by}U))"

    text = re.sub(rf"\bvlSelfRef\.({any_name})\s*=(?!=)([^;]*);", assign, text)
    text = re.sub(rf"\(IData\)\(\s*vlSelfRef\.({any_name})\s*\)", r"vlSelfRef.\1[0U]", text)
    return re.sub(rf"\(IData\)\(\s*\(\s*vlSelfRef\.({any_name})\s*>>\s*({_NUMBER})U\s*\)\s*\)", shifted, text)


def _halves_of(text: str, names: set[str]) -> tuple[str, str] | None:
    """Lower and upper half of an expression of 64 bits; None if it is of an unknown form."""
    text = text.strip()
    word = _word_of(text)
    if word is not None:
        return f"(IData)({word})", "0U"
    if text.startswith("(") and closing(text, 0) == len(text) - 1:
        return _halves_of(text[1:-1], names)
    if (variable := re.fullmatch(r"vlSelfRef\.(\w+)", text)) and variable[1] in names:
        return f"vlSelfRef.{variable[1]}[0U]", f"vlSelfRef.{variable[1]}[1U]"
    if constant := re.fullmatch(rf"({_NUMBER})ULL", text):
        value = int(constant[1], 0)
        return f"0x{value & 0xFFFFFFFF:x}U", f"0x{value >> 32:x}U"
    if text.startswith("-"):
        word = _word_of(text[1:].strip())
        return None if word is None else (f"(- (IData)({word}))", f"(- (IData)((0U != ({word}))))")
    if text.startswith("~"):
        if not _is_operand(text[1:]):
            return None
        inner = _halves_of(text[1:], names)
        return inner and (f"(~ {inner[0]})", f"(~ {inner[1]})")
    return _of_two(text, names)


def _of_two(text: str, names: set[str]) -> tuple[str, str] | None:
    end = _operand(text)
    operator = re.match(r"\s*(<<|>>|[&|^?])\s*", text[end:])
    if operator is None:
        return None
    rest = text[end + operator.end() :]
    if operator[1] == "?":
        middle = _operand(rest)
        colon = re.match(r"\s*:\s*", rest[middle:])
        if colon is None or not _is_operand(rest[middle + colon.end() :]):
            return None
        one, other = _halves_of(rest[:middle], names), _halves_of(rest[middle + colon.end() :], names)
        if one is None or other is None:
            return None
        return f"({text[:end]} ? {one[0]} : {other[0]})", f"({text[:end]} ? {one[1]} : {other[1]})"
    left = _halves_of(text[:end], names)
    if left is None or not _is_operand(rest):
        return None
    if operator[1] in ("<<", ">>"):
        by = re.fullmatch(rf"({_NUMBER})U", rest.strip())
        # Other shifts than that of a whole half have not been seen.
        if by is None or int(by[1], 0) != 32:
            return None
        return ("0U", left[0]) if operator[1] == "<<" else (left[1], "0U")
    right = _halves_of(rest, names)
    if right is None:
        return None
    return f"({left[0]} {operator[1]} {right[0]})", f"({left[1]} {operator[1]} {right[1]})"


def _word_of(text: str) -> str | None:
    """What of 32 bits a value of 64 is made of, if it is nothing else."""
    cast = re.match(r"\(QData\)\s*\(\s*\(IData\)\s*(?=\()", text)
    if cast is None or _operand(text) != len(text):
        return None
    end = closing(text, cast.end())
    return text[cast.end() + 1 : end] if text[end + 1 :].strip() == ")" else None


def _is_operand(text: str) -> bool:
    return _operand(text) == len(text.rstrip())


def _operand(text: str) -> int:
    """Where the first operand of an expression ends."""
    at = 0
    while cast := re.match(r"\s*\((?:[CSIQ]Data)\)", text[at:]):
        at += cast.end()
    at += len(text[at:]) - len(text[at:].lstrip())
    if text[at : at + 1] == "(":
        return closing(text, at) + 1
    name = re.match(r"[\w.]+", text[at:])
    return at + (name.end() if name else 0)
