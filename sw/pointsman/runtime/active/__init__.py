"""Active messages: a message names the function that handles it where it arrives (von Eicken 1993, Chapter 6).

``endpoint`` is a node's side: requests, replies, polling; ``handlers`` the functions and what they may not do; ``links`` are the
targets' networks, on which ``credits`` bound the buffers; ``application`` is what programs derive from.
"""

from .carrier import Carrier, Message
from .endpoint import Endpoint
from .handlers import Handlers, Reply

__all__ = ["Carrier", "Endpoint", "Handlers", "Message", "Reply"]
