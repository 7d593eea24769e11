"""What runs on a node's processor: requests, phases, operator functions, applications."""

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
