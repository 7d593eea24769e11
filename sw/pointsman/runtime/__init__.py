"""What runs on a node's processor: requests, phases, operator functions, applications."""

from .application import Application, Reference, WrongAnswer
from .node import Cop, Node
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
]
