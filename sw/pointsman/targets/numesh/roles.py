"""Roles of nodes in an operator, with the numbers of their VFSMs and registers.

Takes drafts of roles, and places in the hardware (``allocation``). Nodes that look alike and have the same numbers share
their roles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numesh.codes import Annotation, MoveType
from pointsman.artifacts.images.images import LaneImage, Rewrite, Role
from pointsman.operators import RoleDraft, VfsmSetting
from pointsman.operators.api.loading import Loading
from pointsman.routing.streams import Place, RoutedVfsm

from .allocation import Allocation, Key, key_of


class RoleImages:
    """The roles of all nodes."""

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self._known_roles: dict[object, tuple[tuple[Role, ...], tuple[int, ...]]] = {}

    def roles(self, index: int, node: int) -> tuple[tuple[Role, ...], tuple[int, ...]]:
        """The distinct roles of a node in an operator, and the index of its role in each state. They are the roles of the node
        that it looks like, with its own numbers of VFSMs and registers."""
        phase, planned = self.allocation.operators[index]
        like = planned.like(node)
        here, first = self.allocation.vfsms[phase].get(node), self.allocation.first_register[phase].get(node)
        if planned.implementation.loading is Loading.REMOTE:
            like = node  # commands rewrite VFSMs of others
        key = index, like, here, first
        if key not in self._known_roles:
            delays = planned.delays.get(node, (planned.drain,) * len(planned.values))
            loaded = planned.values != ((),) or planned.stages > 1
            number: dict[Role, int] = {}
            known: dict[tuple[int, int], int] = {}
            chosen = []
            for i, draft in enumerate(planned.states(like)):
                delay = delays[i // planned.stages]
                # Most states have a draft that another has, too, as the same object.
                of = id(draft), delay
                if of not in known:
                    known[of] = number.setdefault(self._role(phase, node, draft, delay, loaded), len(number))
                chosen.append(known[of])
            self._known_roles[key] = tuple(number), tuple(chosen)
        return self._known_roles[key]

    def _role(self, phase: int, node: int, draft: RoleDraft, delay: int, loaded: bool) -> Role:
        """``loaded``: load functions choose among roles and rewrite VFSMs; otherwise annotations are final from the start."""
        return Role(
            draft.kind,
            tuple(self._lane(phase, node, lane) for lane in draft.lanes),
            self._rewrites(phase, draft.settings, node) if loaded else (),
            delay,
            draft.local,
            draft.turns,
            draft.combines,
            draft.result,
            draft.void,
            draft.switch,
            tuple(self._command(phase, node, register, setting) for register, setting in draft.commands),
            draft.by_item,
        )

    def _lane(self, phase: int, node: int, lane: LaneImage) -> LaneImage:
        return replace(lane, registers=tuple(self.allocation.register(phase, node, r) for r in lane.registers))

    def _rewrites(self, phase: int, settings: tuple[VfsmSetting, ...], node: int) -> tuple[Rewrite, ...]:
        """Annotations that ``settings``, of ``node`` or of a node that looks like it, give to VFSMs of ``node``."""
        if not settings:
            return ()
        standing = {key_of(s.stream, s.chain, s.vfsm): s.vfsm for s in settings}
        here = self.allocation.vfsms[phase][node]
        return tuple(
            [
                Rewrite(
                    *here.place(s.vfsm.pipeline, s.vfsm.number),
                    self._annotation(phase, s.stream, s.chain, s.vfsm, standing, node),
                )
                for s in settings
            ]
        )

    def _annotation(
        self, phase: int, stream: int, chain: int, vfsm: RoutedVfsm, standing: Mapping[Key, RoutedVfsm], node: int
    ) -> Annotation:
        """Annotation of a VFSM at ``node`` (``vfsm`` may be of a node that looks like it). ``standing``: VFSMs whose settings
        differ from the routed ones, by key."""
        legs = self.allocation.legs[phase][key_of(stream, chain, vfsm)]
        forked = any(standing.get(key_of(stream, chain, leg), leg).type == MoveType.FORK for leg in legs)
        return Annotation(
            vfsm.type,
            self._code(phase, stream, chain, vfsm, vfsm.source, node),
            self._code(phase, stream, chain, vfsm, vfsm.destination, node),
            forked,
        )

    def _code(self, phase: int, stream: int, chain: int, vfsm: RoutedVfsm, place: Place, node: int) -> int:
        """Code of the place from which a VFSM takes words, or to which it gives them."""
        match place.kind:
            case "link":
                return self.allocation.codes.neighbour(place.number)
            case "buffer":
                return self.allocation.codes.buffer(
                    self.allocation.vfsms[phase][node].place(vfsm.pipeline, place.number)[1]
                )
            case "nop":
                return self.allocation.codes.nop
            case "null":
                return self.allocation.codes.null
            case "register":
                return self.allocation.codes.register(self.allocation.register(phase, node, place.number))
            case "command":
                return self.allocation.codes.register(place.number)
        virtual = self.allocation.phases[phase].wiring.register(vfsm.node, stream, chain, place.kind)
        return self.allocation.codes.register(self.allocation.register(phase, node, virtual))

    def _command(self, phase: int, node: int, register: int, setting: VfsmSetting) -> tuple[int, int]:
        """Register and command word by which a node rewrites another node's VFSM."""
        (rewrite,) = self._rewrites(phase, (setting,), setting.vfsm.node)
        (word,) = self.allocation.codes.write_annotation(rewrite.vfsm, rewrite.annotation)
        return self.allocation.register(phase, node, register), word

    def annotated(self, index: int, node: int) -> tuple[Rewrite, ...]:
        """Annotations of a phase's VFSMs at a node before any load function: as in the role of state 0, else as routed."""
        standing = {
            key_of(s.stream, s.chain, s.vfsm): s.vfsm
            for planned in self.allocation.phases[index].operators
            for s in (planned.role(node, 0).settings if node in planned.roles else ())
        }
        return tuple(
            Rewrite(
                *self.allocation.place(index, vfsm),
                self._annotation(
                    index,
                    chain.stream,
                    chain.chain,
                    standing.get(key_of(chain.stream, chain.chain, vfsm), vfsm),
                    standing,
                    node,
                ),
            )
            for chain, vfsm in self.allocation.at[index].get(node, ())
        )
