"""What runs on a node's processor: requests, phases, operator functions, applications."""

from .application import Application, Reference, WrongAnswer
from .cop import Cop
from .node import Node
from .numesh import numesh_node
from .requests import Attend, Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

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
