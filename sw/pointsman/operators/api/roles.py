"""Roles of nodes in an operator, before interface registers and VFSMs have their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from numesh.codes import MoveType
from pointsman.artifacts.images.images import Combination, IoKind, LaneImage
from pointsman.routing.streams import Place, RoutedVfsm


class VfsmSetting(NamedTuple):
    """A VFSM of chain ``chain`` of stream ``stream``, with the source and destination that some role gives it."""

    stream: int
    chain: int
    vfsm: RoutedVfsm

    def read_interface(self) -> VfsmSetting:
        """The same VFSM taking its words from the processor."""
        return self._replace(vfsm=self.vfsm._replace(type=MoveType.MOVE, source=Place("inject")))

    def read_register(self, register: int) -> VfsmSetting:
        """The same VFSM taking its words from a virtual register of its node."""
        return self._replace(vfsm=self.vfsm._replace(type=MoveType.MOVE, source=Place("register", register)))

    def write_register(self, register: int) -> VfsmSetting:
        """The same VFSM, or leg of a fork, writing to a virtual register of its node."""
        return self._replace(vfsm=self.vfsm._replace(destination=Place("register", register)))

    def discard(self) -> VfsmSetting:
        """The same VFSM, or leg of a fork, dropping its words."""
        return self._replace(vfsm=self.vfsm._replace(destination=Place("null")))

    def command(self, pipeline: int) -> VfsmSetting:
        """The same VFSM writing to the command register of a pipeline of its node."""
        return self._replace(vfsm=self.vfsm._replace(destination=Place("command", pipeline)))

    def idle(self) -> VfsmSetting:
        """The same VFSM with nothing to read."""
        return self._replace(vfsm=self.vfsm._replace(type=MoveType.MOVE, source=Place("nop")))

    def off(self) -> VfsmSetting:
        """The same VFSM moving nothing."""
        return self._replace(vfsm=self.vfsm._replace(type=MoveType.MOVE, source=Place("nop"), destination=Place("nop")))


@dataclass(frozen=True, slots=True)
class RoleDraft:
    """A role before VFSMs and interface registers have their numbers: see ``pointsman.artifacts.images.images.Role``.

    Registers of the lanes are virtual: numbers from 0 within their node and phase. ``later``: settings of the same VFSMs after
    the node has done its I/O, if they differ from ``settings``; ``stage``: the last stage that still has ``settings``.
    """

    kind: IoKind
    lanes: tuple[LaneImage, ...] = ()
    settings: tuple[VfsmSetting, ...] = ()
    local: bool = False
    turns: int = 1
    combines: tuple[Combination, ...] = ()
    result: bool = True
    void: bool = False
    later: tuple[VfsmSetting, ...] | None = None
    stage: int = 0
    switch: int | None = None
    """Step from which on the router runs the second schedule of the phase until the call ends; None: never."""
    commands: tuple[tuple[int, VfsmSetting], ...] = ()
    """Commands that the load function writes: (register to write to, setting that the command gives a VFSM of the node where
    it arrives)."""
    each: tuple[RoleDraft, ...] = ()
    """The role in each stage, where stages differ in more than ``settings`` and ``later`` can say."""
    by_item: bool = False
    """As `pointsman.artifacts.images.images.Role.by_item`."""
