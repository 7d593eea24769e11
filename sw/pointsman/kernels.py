"""Compiled kernels, and where their machine code is kept from run to run.

Numba keys machine code by the file of its function alone: a kernel goes on with the old text of whatever it took from another
file when it was compiled, be it a kernel that it calls or a constant. So the kernels of a module have a folder of their own,
named by a hash of everything that can have been compiled into them: the text of the module, of every module of ours that it
imports, of those that these import, and so on, by the name under which the module was imported (a kernel that is kept looks
for its globals in the module of that name), and by the versions of Python and of Numba.

For example, the kernels of ``routing/network_router/rip_up.py`` are compiled again when ``routing/pathfinder/arrays.py`` changes,
whose constants they use, and not when ``routing/network_router/levels.py`` changes, which calls them.

What is kept has a checksum. Files that are damaged count as absent, and a disk that takes no files only makes the next process
compile again. Where there can be no folder, Numba looks for a place of its own, beside the sources for example; there the hash
stands in the files, and what was kept with another counts as absent, too.
"""

from __future__ import annotations

import ast
import hashlib
import pickle
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.event import Event, Listener, register
from numba.core.types import unliteral

from .errors import PointsmanError
from .files import cache_folder

config: Any = numba_config

OURS = ("pointsman", "cosim", "numesh", "tdm_switch", "packet_router")
"""Packages that are followed wherever they are installed; others unless they are installed among those of other people."""
_OTHERS = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))

_FIRST_DEFINITION = re.compile(rb"^(?:@|def |class |async def )", re.MULTILINE)

_folders: dict[tuple[Path, str], str] = {}
"""Where the kernels of each module of this process are kept, by its file and its name."""
_digests: dict[tuple[Path, str], str] = {}
"""Hash of everything that can be compiled into them."""


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: ``numba.njit``, kept until something changes that is compiled in; ``options`` go to Numba."""
    if function is None:
        return lambda later: kernel(later, **options)
    file = Path(function.__code__.co_filename)
    module = file, function.__module__
    if module not in _folders:
        _digests[module] = _digest(*module)
        _folders[module] = _folder(_digests[module])
    made = numba.njit(**options)(function)
    made.get_call_template = partial(_for_any_value, made.get_call_template)
    before = config.CACHE_DIR
    config.CACHE_DIR = _folders[module] or before
    try:
        made._cache = _Kept(
            function, _digests[module]
        )  # in place of ``cache=True``, which makes a cache without checksums
    except (RuntimeError, OSError):  # there is no folder that can be written: nothing is kept
        pass
    finally:
        config.CACHE_DIR = before
    return made


def _for_any_value(template: Callable[..., Any], args: Iterable[Any], named: Mapping[str, Any]) -> Any:
    """What another kernel calls: one for all values of a type, where Numba would compile one for each constant that is given.

    That would take half as long again to compile, and gains nothing: what is short LLVM puts in place of the call, constants too.
    """
    return template([unliteral(one) for one in args], {name: unliteral(one) for name, one in named.items()})


class _Kept(FunctionCache):
    """Numba's cache of a function's machine code, with files that are checked."""

    def __init__(self, function: Callable[..., Any], digest: str) -> None:
        super().__init__(function)
        stamp = self._cache_file._source_stamp, digest
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk, for example: the next process compiles again
            return


class _CheckedFiles(IndexDataCacheFile):
    """Index and data files that begin with a checksum of the rest; a file that is damaged counts as absent."""

    def _load_index(self) -> dict[Any, str]:
        found = self._checked(self._index_path)
        if found is None:
            return {}
        version, stamp, overloads = found
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._checked(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, value: Any) -> None:
        data = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    @staticmethod
    def _checked(path: str) -> Any:
        try:
            content = Path(path).read_bytes()
        except OSError:
            return None
        data = content[32:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == content[:32] else None


class _UnderWay(Listener):
    """Counts kernels that are being compiled: one inside another where it calls that."""

    count = 0

    def on_start(self, event: Event) -> None:
        self.count += 1

    def on_end(self, event: Event) -> None:
        self.count -= 1


_under_way = _UnderWay()
register("numba:compile", _under_way)


def is_compiling() -> bool:
    """Whether a kernel is being compiled now, in any thread."""
    return _under_way.count > 0


def is_cold(package: Path) -> bool:
    """Whether no kernel has been compiled yet of the modules in this folder that this process has imported."""
    folders = [folder for (file, _), folder in _folders.items() if file.parent == package]
    return not any(folder and any(Path(folder).rglob("*.nbi")) for folder in folders)


def compiled_in(file: Path) -> list[Path]:
    """Files of which something may be compiled into the kernels of the module in ``file``, this one first."""
    reached = {file: None}
    todo = [file]
    while todo:
        for other in _imports(todo.pop()):
            if other not in reached:
                reached[other] = None
                todo.append(other)
    return list(reached)


def _digest(file: Path, module: str) -> str:
    """Hash of everything that can be compiled into the kernels of ``module`` in ``file``. 16 hexadecimal digits."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}\0{module}".encode())
    for path in sorted(compiled_in(file)):
        digest.update(f"\0{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _folder(digest: str) -> str:
    """Folder for the kernels with this hash; empty if there can be none (Numba then has its own way)."""
    try:
        folder = cache_folder() / f"kernels-{digest}"
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
    except (OSError, ValueError, PointsmanError):  # the command tells of a wrong folder before it begins
        return ""
    return str(folder)


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """Files of ours that the module in ``file`` imports when it is imported itself. Where a name comes from a package and not
    from a module in it, the package's ``__init__`` is meant."""
    found: list[Path | None] = []
    for statement in _import_statements(_beginning(file.read_bytes())):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top, *rest = alias.name.split(".")
                found.append(_module(_home(top), rest))
            continue
        parts = statement.module.split(".") if statement.module else []
        if statement.level:
            home: Path | None = file.parents[statement.level - 1]
        else:
            home, parts = _home(parts[0]), parts[1:]
        inside = [_module(home, [*parts, alias.name]) for alias in statement.names]
        found += inside
        if None in inside:
            found.append(_module(home, parts))
    return tuple(dict.fromkeys(path for path in found if path is not None))


def _beginning(text: bytes) -> list[ast.stmt]:
    """Statements before the first function or class, where imports stand; to parse the rest takes ten times as long."""
    first = _FIRST_DEFINITION.search(text)
    try:
        return ast.parse(text[: first.start()] if first else text).body
    except SyntaxError:  # that was in the middle of a string
        return ast.parse(text).body


def _import_statements(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Those that run with the module: not those inside functions, nor those for type checkers alone."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _import_statements(statement.orelse)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.ExceptHandler):
                    yield from _import_statements(child.body)
                elif isinstance(child, ast.stmt):
                    yield from _import_statements([child])


@cache
def _home(package: str) -> Path | None:
    """Folder of a top-level package (or the path of a module without ``.py``) if it is ours."""
    if package in sys.stdlib_module_names:
        return None
    spec = find_spec(package)
    if spec is None or spec.origin is None or (package not in OURS and spec.origin.startswith(_OTHERS)):
        return None
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin.with_suffix("")


def _module(home: Path | None, parts: Iterable[str]) -> Path | None:
    """The file of a module or package; None if there is none, or if it is not ours."""
    if home is None:
        return None
    path = home.joinpath(*parts)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
