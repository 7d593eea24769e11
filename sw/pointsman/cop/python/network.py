"""The network as a Python program sees it: the variables and functions of Metcalf 1997, Tables A.1 and A.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.forms import set_network_variable
from pointsman.cop.evaluation.values import Builtin, Complaint
from pointsman.cop.library.library import LIBRARY
from pointsman.cop.text.reader import Symbol

from .places import PythonSource, place_of_caller

Integer = int | np.integer
"""A node number, a size or a distance."""


class Network:
    """The network, or the subset of it in which a function of the program is called.

    Node numbers and sizes are relative to that subset. ``*xsize*`` of a text is ``net.xsize`` here, and ``(make-1d 'x)`` is
    ``net.make_1d("x")``.
    """

    def __init__(self, machine: Evaluator) -> None:
        self._machine = machine
        self._context = None if machine.context is machine.network else machine.context

    @property
    def nodes(self) -> int:
        """Nodes of the current subset."""
        return self._variable("*nodes*")

    @property
    def xsize(self) -> int:
        """Size of the current subset in x."""
        return self._variable("*xsize*")

    @property
    def ysize(self) -> int:
        """Size of the current subset in y."""
        return self._variable("*ysize*")

    @property
    def zsize(self) -> int:
        """Size of the current subset in z."""
        return self._variable("*zsize*")

    @property
    def xphys(self) -> int:
        """Size of the network in x."""
        return self._variable("*xphys*")

    @property
    def yphys(self) -> int:
        """Size of the network in y."""
        return self._variable("*yphys*")

    @property
    def zphys(self) -> int:
        """Size of the network in z."""
        return self._variable("*zphys*")

    @property
    def subset(self) -> tuple[int, ...]:
        """Members of the current subset, as numbers of the network."""
        return self._variable("*subset*")

    @property
    def mode(self) -> str:
        """``*mode*``: numesh, dyn or tdm. Setting it forces the target."""
        return self._machine.settings.mode

    @mode.setter
    def mode(self, value: str) -> None:
        self._set("*mode*", Symbol(value) if isinstance(value, str) else value)

    @property
    def schedlen(self) -> int | None:
        """``*schedlen*``, the schedule length, if the host or the program sets it. Setting it forces it."""
        found = self._machine.network_variable("*schedlen*")
        return found if isinstance(found, int) else None

    @schedlen.setter
    def schedlen(self, value: int) -> None:
        self._set("*schedlen*", value)

    def all(self, count: Integer) -> tuple[int, ...]:
        """(0, 1, …, count - 1)."""
        return self._call("all", count)

    def count(self, start: Integer, count: Integer) -> tuple[int, ...]:
        """(start, start + 1, …, start + count - 1)."""
        return self._call("count", start, count)

    def step(self, step: Integer, start: Integer, end: Integer) -> tuple[int, ...]:
        """(start, start + step, …, end)."""
        return self._call("step", step, start, end)

    def coord(self, x: Integer, y: Integer = 0, z: Integer = 0) -> int:
        """Node at these coordinates of the current subset."""
        return self._call("coord", x, y, z)

    def coords(self, node: Integer) -> tuple[int, int, int]:
        """x, y and z of a node of the current subset."""
        return self._call("coords", node)

    def make_1d(self, dimension: str | int) -> tuple[tuple[int, ...], ...]:
        """All lines of the current subset in dimension "x", "y" or "z", as a list of subsets."""
        return self._call("make-1d", Symbol(dimension) if isinstance(dimension, str) else dimension)

    def reset_mesh_size(self, x: Integer, y: Integer = 1, z: Integer = 1) -> None:
        """Compile for a mesh (or torus) of this size."""
        self._call("reset-mesh-size", x, y, z, within=False)

    def _here(self) -> int:
        source = self._machine.source
        assert isinstance(source, PythonSource)
        return source.number(place_of_caller())

    def _variable(self, name: str) -> Any:
        machine = self._machine
        try:
            return (self._context or machine.network).variable(name)
        except Complaint as complaint:
            raise machine.error(self._here(), complaint.message, hint=complaint.hint) from None

    def _set(self, name: str, value: object) -> None:
        at = self._here()
        set_network_variable(self._machine, name, value, at, at)

    def _call(self, name: str, *arguments: object, within: bool = True) -> Any:
        """Call a library function, with the subset of this object as the current subset."""
        machine = self._machine
        builtin = LIBRARY[name]
        assert isinstance(builtin, Builtin)
        machine.at = self._here()
        outer = machine.context
        if within:
            machine.context = self._context or machine.network
        try:
            values = [arg if isinstance(arg, Symbol | bool) else _integer(arg) for arg in arguments]
            return builtin.function(machine, values)
        except Complaint as complaint:
            raise machine.error(machine.at, complaint.message, hint=complaint.hint) from None
        finally:
            if within:
                machine.context = outer


def _integer(value: object) -> object:
    """An integer of any kind as Python's; anything else as it is, for the function to refuse."""
    if isinstance(value, int):
        return value
    index = getattr(value, "__index__", None)
    return index() if index is not None else str(value)
