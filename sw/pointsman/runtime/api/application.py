"""Applications: the user's side of a program.

An application file defines one class derived from ``Application``. The same file runs on every target and engine.
"""

from __future__ import annotations

import argparse
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Unpack

from pointsman.cop import Parts, Program, compile_file, compile_program
from pointsman.cop.compile import Host
from pointsman.cop.text.source import CopError
from pointsman.errors import PointsmanError
from pointsman.files import is_file
from pointsman.foreign import fault, foreign_code, foreign_frames, run_file, said_by
from pointsman.network import Topology

from .node import Node


class Application(ABC):
    """A COP program with the programs of the processors that use it.

    Attributes
    ----------
    program : str, Program, or function
        A COP file, relative to the application's own file; or a program made by Python: a method or a function that
        takes a `pointsman.cop.Network` and returns parts (see `pointsman.cop.compile_program`), or a `Program`.
    functions : mapping of str to callable
        Functions with which reductions combine messages, by their names in the program. For an array type a function takes
        two inputs and the output, otherwise two items. "add", "max" and others need no entry (`pointsman.runtime.api.combine`).
    foreseen : bool
        Does the program say what the nodes will send? False: it opens ways for messages that nodes send as they like, so
        nothing is predicted from it.
    """

    program: str | Program | Callable[..., Parts]
    name: str | None = None
    """What it is called in reports; the name of its file if None."""
    functions: Mapping[str, Callable[..., Any]] = {}
    foreseen: bool = True

    @classmethod  # noqa: B027 - most applications have none
    def options(cls, parser: argparse.ArgumentParser) -> None:
        """Add the application's own command-line options."""

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        self.options_given = options
        self.topology = topology

    def parameters(self) -> Mapping[str, int]:
        """Values for the COP program's parameters."""
        return {}

    @abstractmethod
    async def main(self, node: Node) -> Any:
        """The program of a node. Its result is handed to ``check``."""

    def check(self, results: Sequence[Any]) -> str:
        """Compare the nodes' results with the right results.

        Parameters
        ----------
        results : sequence
            What ``main`` returned, by node; None of nodes that do not work, as ``main`` is not run there.

        Returns
        -------
        str
            Description of what was checked.

        Raises
        ------
        WrongAnswer
            If they differ.
        """
        return "the application checks nothing"

    def reference(self) -> Reference | None:
        """Published figures of this job, to be shown beside those of the run; None if there are none."""
        return None


@dataclass(frozen=True)
class Reference:
    """Published figures of an application: mean cycles by category, and bandwidths (words a cycle) by operator label."""

    source: str
    """Author and year."""
    cycles_table: str = ""
    categories: Mapping[str, float] | None = None
    bandwidth_table: str = ""
    bandwidths: Mapping[str, float] | None = None


class WrongAnswer(Exception):  # noqa: N818 - an answer, not a fault
    """A run ended normally with a wrong result."""


def answer_of(application: Application, results: Sequence[Any]) -> tuple[str, bool]:
    """Result of the application's ``check``: its text and True, or the text of the wrong answer and False."""
    try:
        return application.check(results), True
    except WrongAnswer as error:
        return str(error), False


class ApplicationOptionError(PointsmanError):
    """An option on the command line that the application does not know, or with a value that it does not take."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ApplicationOptionError(f"{self.prog}: {message}", hint="see the options of the application above")


def load_application(path: Path) -> type[Application]:
    """The application class of a file.

    Raises
    ------
    PointsmanError
        If the file cannot be read, does not run, or has no or several applications.
    """
    if not is_file(path):
        raise PointsmanError(f"there is no application file {path}")
    try:
        module = run_file(path, f"pointsman_application_{path.stem}", "an application is")
    except (KeyboardInterrupt, PointsmanError):
        raise
    except BaseException as error:
        if isinstance(error, SyntaxError) and error.lineno is not None and error.filename is not None:
            raise PointsmanError(f"{error.filename}:{error.lineno}: {error.msg}") from None
        raise fault(error, path, "the application", said="does not run: ") from error
    with foreign_code(path, "the application", doing="the search for its class"):
        found = [
            value
            for value in vars(module).values()
            if inspect.isclass(value)
            and issubclass(value, Application)
            and value is not Application
            and value.__module__ == module.__name__
        ]
    if len(found) != 1:
        raise PointsmanError(
            f"{path} must define one class derived from pointsman.runtime.Application, not {len(found)}"
        )
    check_class(found[0], path)
    return found[0]


def check_class(kind: type[Application], path: Path) -> None:
    """Has an application's class, from file ``path``, all that it must define?

    Raises
    ------
    PointsmanError
        With what is missing.
    """
    if inspect.isabstract(kind):
        raise PointsmanError(f"{path}: {kind.__name__} must define {', '.join(sorted(kind.__abstractmethods__))}")
    program = inspect.getattr_static(kind, "program", None)
    if isinstance(program, staticmethod | classmethod):
        program = program.__func__
    if not (isinstance(program, str | Program) or callable(program)):
        raise PointsmanError(
            f"{path}: {kind.__name__} must name its COP file, or be its own program",
            hint='program = "name.cop", or def program(self, net): ...',
        )


def text_of(app: Application, path: Path) -> Path | None:
    """The COP file of an application (file ``path``); None if its program is made by Python."""
    program = inspect.getattr_static(app, "program")
    return path.parent / program if isinstance(program, str) else None


def compile_application(app: Application, path: Path, topology: Topology, **host: Unpack[Host]) -> tuple[Program, str]:
    """Compile the program of an application (file ``path``) for a network; gives the Program and its name for messages.

    ``host``: parameters, limits, mode and schedlen, as `pointsman.cop.compile_text` takes them.

    Raises
    ------
    PointsmanError
        If the program is wrong, or was made for another network or with other parameters.
    """
    file = text_of(app, path)
    if file is not None:
        return compile_file(file, topology=topology, **host), file.stem
    program = inspect.getattr_static(app, "program")
    if isinstance(program, Program):
        if program.topology != topology:
            raise PointsmanError(
                f"{path}: the program was made for a {program.topology.described}, not for a {topology.described}",
                hint="name the function that makes it instead",
            )
        if dict(program.parameters) != dict(host.get("parameters") or {}):
            raise PointsmanError(
                f"{path}: the program was made with other parameters than the application's",
                hint="name the function that makes it instead",
            )
        return program, path.stem
    # A function from outside the class is the program as it is; one of the class is a method.
    owner = getattr(program, "__qualname__", "").rpartition(".")[0]
    is_method = inspect.isfunction(program) and owner and not owner.endswith("<locals>")
    body: Any = program if inspect.isfunction(program) and not is_method else app.program
    return compile_program(body, topology=topology, **host), app.name or path.stem


@contextmanager
def application_errors(path: Path) -> Iterator[None]:
    """Turn exceptions of the application's own code into a `PointsmanError` that names its line.

    An error that Pointsman raises in a call by the application also names the line of that call.
    """
    try:
        with foreign_code(path, "the application"):
            yield
    except CopError:
        raise
    except PointsmanError as error:
        frames = foreign_frames(error, path)
        if not frames:
            raise
        place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}"
        raise _said(error, f"{said_by(error)}\n  called from {place}") from error


def _said(error: PointsmanError, text: str) -> PointsmanError:
    """An error of the same kind that says something else."""
    made = error.__class__.__new__(error.__class__)
    vars(made).update(vars(error))
    PointsmanError.__init__(made, text)
    return made


def parse_options(application: type[Application], path: Path, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the application's own options."""
    parser = _Parser(prog=path.name, add_help=False, allow_abbrev=False)
    with foreign_code(path, "the application", doing=f"{application.__name__}.options"):
        application.options(parser)
        return parser.parse_args(list(arguments))


def options_help(application: type[Application], path: Path) -> str:
    """Text that explains the application's own options."""
    parser = _Parser(prog=path.name, add_help=False, allow_abbrev=False)
    with foreign_code(path, "the application", doing=f"{application.__name__}.options"):
        application.options(parser)
        return parser.format_help()
