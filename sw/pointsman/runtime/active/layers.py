"""Several layers on one endpoint: each has handlers and a state of its own, and messages carry the layer's tag with the number of
their handler.

So Split-C and TAM, or a library beside either, share a node's network, its buffers and its rules: a layer that waits handles
the messages of all.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError

from .carrier import Carrier
from .endpoint import Endpoint
from .handlers import Answer, BatchHandler, Handler, Handlers, Reply
from .trace import NodeTrace


def tagged(layer: str, name: str) -> str:
    """The name of a layer's handler among those of all layers."""
    return f"{layer}.{name}"


def shared_handlers(layers: Mapping[str, Handlers]) -> Handlers:
    """The handlers of several layers as those of one endpoint, whose state is a mapping of layers to their states.

    Parameters
    ----------
    layers : mapping of str to Handlers
        The same, in the same order, at all nodes.

    Raises
    ------
    PointsmanError
        If they are too many together.
    """
    made = Handlers()
    for layer, handlers in layers.items():
        if "." in layer or not layer:
            raise PointsmanError(f"the tag of a layer of active messages must be a name without dots, not {layer!r}")
        for number, name in enumerate(handlers.names):
            batch = handlers.batches[number]
            made.add(
                tagged(layer, name),
                _of_layer(layer, handlers.functions[number]),
                reply=handlers.is_reply[number],
                batch=None if batch is None else _batch_of_layer(layer, batch),
            )
    return made


def _of_layer(layer: str, function: Handler) -> Handler:
    def handler(states: Any, source: int, arguments: tuple[int, ...], data: bytes) -> Answer:
        return _retagged(layer, function(states[layer], source, arguments, data))

    return handler


def _batch_of_layer(layer: str, function: BatchHandler) -> BatchHandler:
    def handler(states: Any, source: int, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int) -> Answer:
        return _retagged(layer, function(states[layer], source, firsts, rest, data, size))

    return handler


def _retagged(layer: str, answer: Answer) -> Answer:
    """An answer for the layer's own handlers; anything else is left for the endpoint to refuse."""
    if isinstance(answer, Reply):
        return Reply(tagged(layer, answer.handler), answer.arguments, answer.data)
    if isinstance(answer, list | tuple):
        return [Reply(tagged(layer, one.handler), one.arguments, one.data) for one in answer]
    return answer


class LayerEndpoint:
    """An endpoint as one of its layers sees it: names of handlers are the layer's own. Replies under way are those of all."""

    def __init__(self, endpoint: Endpoint, layer: str) -> None:
        self.endpoint = endpoint
        self.layer = layer
        self.carrier = endpoint.carrier
        self.number = endpoint.number
        self.nodes = endpoint.nodes

    @property
    def due(self) -> int:
        """Replies that are under way to this node, or will be, of all layers."""
        return self.endpoint.due

    @property
    def trace(self) -> NodeTrace | None:
        return self.endpoint.trace

    def refuse_in_handler(self, kind: type[PointsmanError], doing: str) -> None:
        """As `Endpoint.refuse_in_handler`."""
        self.endpoint.refuse_in_handler(kind, doing)

    def request(
        self, to: int, handler: str, arguments: tuple[int, ...] = (), data: bytes = b"", *, replies: int = 1
    ) -> Coroutine[Any, Any, None]:
        """As `Endpoint.request`."""
        return self.endpoint.request(to, tagged(self.layer, handler), arguments, data, replies=replies)

    def request_many(
        self, to: np.ndarray, handler: str, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int
    ) -> Coroutine[Any, Any, None]:
        """As `Endpoint.request_many`."""
        return self.endpoint.request_many(to, tagged(self.layer, handler), firsts, rest, data, size)

    def poll(self) -> Coroutine[Any, Any, bool]:
        """As `Endpoint.poll`: a message of any layer."""
        return self.endpoint.poll()

    def until(self, condition: Callable[[], bool]) -> Coroutine[Any, Any, None]:
        """As `Endpoint.until`: messages of all layers are handled."""
        return self.endpoint.until(condition)

    def expect(self, replies: int) -> Coroutine[Any, Any, None]:
        """As `Endpoint.expect`."""
        return self.endpoint.expect(replies)


class Layers:
    """The layers of a node on one endpoint.

    Parameters
    ----------
    carrier : Carrier
    handlers : mapping of str to Handlers
        Of each layer; the same, in the same order, at all nodes.

    Attributes
    ----------
    states : dict of str to object
        What the handlers of each layer work on; to be filled before the first message.
    """

    def __init__(self, carrier: Carrier, handlers: Mapping[str, Handlers]) -> None:
        self.states: dict[str, Any] = {}
        self.endpoint = Endpoint(carrier, shared_handlers(handlers), self.states)
        self.names = tuple(handlers)

    def of(self, layer: str) -> LayerEndpoint:
        """The endpoint of a layer."""
        if layer not in self.names:
            raise PointsmanError(f"there is no layer '{layer}'", hint=f"known are {', '.join(self.names)}")
        return LayerEndpoint(self.endpoint, layer)


AnyEndpoint = Endpoint | LayerEndpoint
