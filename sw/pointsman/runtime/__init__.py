"""The run time on a node's processor: the functions that applications call, and their implementation on each target.

``api`` is common to all targets; ``numesh``, `tdm` and `packet` are the targets' sides; ``reference`` runs a program by its
meaning, without hardware. The run time asks for cycles by requests (``api.requests``); engines of ``cosim`` count them.
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
