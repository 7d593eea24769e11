"""What runs on a node's processor: requests, phases, operator functions, applications."""

from .application import Application, Reference, WrongAnswer
from .node import Cop, Node
from .requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

__all__ = [
    "Application",
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
