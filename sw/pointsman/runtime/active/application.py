"""Applications whose nodes send active messages: on every target, without operators of their own."""

from __future__ import annotations

from abc import ABC

from pointsman.cop import Network, Parts, barrier, parallel, runtime, stream
from pointsman.runtime.api.application import Application
from pointsman.runtime.api.node import Node

from .carrier import LONG_WORDS, SHORT_WORDS, Carrier
from .credits import CreditCarrier, check_room
from .layers import AnyEndpoint, LayerEndpoint
from .links import LONG, SHORT, link_of
from .trace import ActiveTrace

IN_A_ROW = 6
"""Messages of a length that a node sends one after the other, about: the network is planned for them and not for the first one,
so that neither reads, which wait for their answer, nor stores and bulk transfers, which do not, count alone."""


class ActiveApplication(Application, ABC):
    """An application without a COP file: its messages go from any node to any other.

    Attributes
    ----------
    window : int
        Requests of each other node for which a node of the hardware has room.
    replies : int
        Replies for which it has room.
    trace : ActiveTrace or None
        Gets what happens in the run.
    """

    window: int = 4
    replies: int = 16
    trace: ActiveTrace | None = None
    foreseen = False
    _run: tuple[object, dict[int, CreditCarrier]] | None = None
    """The clock of a run, and the carriers of its nodes."""

    def program(self, net: Network) -> Parts:
        """Streams from any node to any other, of the two lengths of active messages."""
        if net.nodes == 1:  # no messages
            return barrier("alone")
        anybody = runtime(dynamic=True)
        return parallel(
            stream(SHORT, runtime(), anybody, m=SHORT_WORDS, c=IN_A_ROW),
            stream(LONG, runtime(), anybody, m=LONG_WORDS, c=IN_A_ROW),
        )

    def carrier(self, node: Node) -> Carrier:
        """What carries the messages of a node: the substrate's own carrier, or its network with bounded buffers."""
        check_room(self.window, self.replies)  # on every target, so that a program which one takes is taken by all
        own = getattr(node.substrate, "carrier", None)
        if own is not None:
            made: Carrier = own()
            return made
        if self._run is None or self._run[0] is not node.clock:
            self._run = node.clock, {}
        link = link_of(node.substrate, node.nodes, node.topology.working)
        return CreditCarrier(link, window=self.window, replies=self.replies, peers=self._run[1])

    def observe(self, node: Node, endpoint: AnyEndpoint) -> None:
        """Have the trace, if there is one, told what a node's endpoint does."""
        if self.trace is not None:
            whole = endpoint.endpoint if isinstance(endpoint, LayerEndpoint) else endpoint
            whole.trace = self.trace.of(endpoint.number, node)
