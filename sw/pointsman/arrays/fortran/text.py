"""A Fortran text: parsed by fparser, with the places of its statements and the directives among its comments."""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any

from fparser.common.readfortran import FortranStringReader
from fparser.common.sourceinfo import FortranFormat
from fparser.two import Fortran2003
from fparser.two.parser import ParserFactory
from fparser.two.utils import FortranSyntaxError, NoMatchError

from pointsman.arrays.errors import ArrayProgramError
from pointsman.program.program import Position

from .faults import suspect, unclosed

DIRECTIVE = re.compile(r"[!cC*]hpf\$", re.IGNORECASE)
FIXED = (".f", ".for", ".f77", ".ftn")


@cache
def _parser() -> Any:
    logging.getLogger("fparser").setLevel(logging.CRITICAL)
    return ParserFactory().create(std="f2008")


class _OtherEndError(Exception):
    """An END names another unit than the one it ends."""


class _TextReader(FortranStringReader):
    """fparser's, which would end the process at an END that names another unit."""

    def error(self, message: str, item: object = None) -> None:
        found = re.search(r"is (\w+) but got (\w+)", message)
        raise _OtherEndError(f"this END is of {found[2]}, and what it ends is {found[1]}" if found else message)


class FortranText:
    """The text of a program.

    Parameters
    ----------
    text : str
    file : str
        Its name, for messages.
    fixed : bool or None
        Fixed form (Fortran 77); None: by the end of the file's name.
    """

    def __init__(self, text: str, file: str, fixed: bool | None = None) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.fixed = file.lower().endswith(FIXED) if fixed is None else fixed
        self.text = "\n".join(_joined(self.lines, fixed=self.fixed)) + "\n"

    def position(self, number: int, part: str = "") -> Position:
        """Where on a line (from 1) a part of it is first said; the first character if it is not found."""
        line = self.lines[number - 1] if 1 <= number <= len(self.lines) else ""
        part = part.partition("'")[0]  # behind it: from which call of a subroutine a name is
        found = re.search(rf"(?<!\w){re.escape(part)}", line, re.IGNORECASE) if part else None
        at = found.start() if found else len(line) - len(line.lstrip())
        return Position(self.file, max(number, 1), at + 1)

    def names(self) -> set[str]:
        """Names, in lower case, that statements and directives have; and those words of the language that look like names."""
        found: set[str] = set()
        for line in self.text.lower().splitlines():
            text = line.strip()
            directive = DIRECTIVE.match(text)
            comment = directive is None and self.fixed and line[:1] in ("c", "*")
            part = text[directive.end() :] if directive else "" if comment else text.partition("!")[0]
            found.update(re.findall(r"[a-z]\w*", part))
        return found

    def error(self, number: int, message: str, *, part: str = "", hint: str | None = None) -> ArrayProgramError:
        """An error on a line, at a part of it."""
        line = self.lines[number - 1] if 1 <= number <= len(self.lines) else ""
        return ArrayProgramError(message, position=self.position(number, part), line=line, hint=hint)

    def tree(self) -> Any:
        """A new parse tree of all program units.

        Raises
        ------
        ArrayProgramError
            If the text is no Fortran by the standard of 2008.
        """
        parse = _parser()
        if not any(re.match(r"\s*end\b", line, re.IGNORECASE) for line in self.lines):
            raise self.error(len(self.lines), "the program has no END")
        reader = _TextReader(self.text, ignore_comments=False)
        reader.set_format(FortranFormat(not self.fixed, False))
        try:
            return parse(reader)
        except (FortranSyntaxError, NoMatchError) as error:
            found = re.search(r"at line (\d+)", str(error))
            number = int(found[1]) if found else 1
            raise self._refused(number) from None
        except RecursionError:
            operators = [len(re.findall(r"[-+*/(]", line.partition("!")[0])) for line in self.lines]
            deepest = operators.index(max(operators))
            raise self.error(
                deepest + 1,
                "constructs or expressions are nested too deeply to be read; this line has the most operators",
                hint="divide long expressions, or nests of loops",
            ) from None
        except _OtherEndError as error:
            raise self.error(reader.linecount, str(error), hint="give it the same name, or none") from None
        except Exception:  # fparser has no common class for what it raises on hostile text
            raise self._refused(reader.linecount) from None

    def _refused(self, number: int) -> ArrayProgramError:
        """What is wrong with a line that the parser refuses."""
        line = self.lines[number - 1] if 1 <= number <= len(self.lines) else ""
        if line and (found := unclosed(self.lines, number)) is not None:
            start, what = found
            return self.error(start, f"this {what} has no END {what} before line {number}", part=what)
        message = "this is no Fortran statement, or none that may stand here"
        if (wrong := suspect(line)) is None:
            return self.error(number, message)
        column, why = wrong
        return ArrayProgramError(f"{message}: {why}", position=Position(self.file, number, column), line=line)


def _joined(lines: list[str], *, fixed: bool) -> list[str]:
    """The lines with each directive on one of them: what continues it leaves an empty comment behind.

    In free form a line that ends with ``&`` is continued, in fixed form by a line with something in column 6.
    """
    found: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        behind = at + 1
        if DIRECTIVE.match(line.lstrip()):
            while behind < len(lines) and (mark := DIRECTIVE.match(lines[behind].lstrip())) is not None:
                rest = lines[behind].lstrip()[mark.end() :]
                if fixed and rest[:1] not in ("", " ", "0", "\t"):
                    line = line.rstrip() + rest[1:]
                elif not fixed and line.rstrip().endswith("&"):
                    line = line.rstrip()[:-1] + " " + rest.strip().removeprefix("&")
                else:
                    break
                behind += 1
        found += [line, *["!"] * (behind - at - 1)]
        at = behind
    return found


def line_of(node: Any) -> int:
    """The line on which a statement begins; that of the statement around it for a part of one."""
    while node is not None:
        item = getattr(node, "item", None)
        if item is not None:
            return int(item.span[0])
        first = next((c for c in getattr(node, "children", ()) if getattr(c, "item", None) is not None), None)
        if first is not None:
            return int(first.item.span[0])
        node = getattr(node, "parent", None)
    return 1


def directive_of(node: Any) -> str | None:
    """What a comment says after ``!HPF$``; None for other nodes and comments."""
    if not isinstance(node, Fortran2003.Comment):
        return None
    text = str(node.items[0]).strip()
    found = DIRECTIVE.match(text)
    return text[found.end() :].strip() if found else None


def expression_of(text: str) -> Any:
    """An expression parsed by itself; None if it is none."""
    _parser()
    try:
        return Fortran2003.Expr(text)
    except (NoMatchError, FortranSyntaxError):
        return None
