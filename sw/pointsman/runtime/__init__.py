"""What runs on a node's processor: the functions that applications call, and what they do on each target.

``api`` is the same everywhere; ``numesh``, `tdm` and `packet` are the targets' sides; ``reference`` runs a program by its
meaning, without hardware. Here a cycle of a processor is asked for (``api.requests``); engines of ``cosim`` count it.
"""

from .api.application import Application, Reference, WrongAnswer
from .api.node import Node
from .api.operator_functions import Cop
from .api.requests import Attend, Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil
from .numesh.substrate import numesh_node

__all__ = [
    "Application",
    "Attend",
    "Category",
    "Cop",
    "Lane",
    "Node",
    "Reference",
    "Transfer",
    "Wait",
    "WaitEmpty",
    "WaitUntil",
    "WrongAnswer",
    "numesh_node",
]
