"""Packets hop over a logical topology: a simulator (``hopping``, ``kernel``) and its analytical model (``model``)."""

from .hopping import hop
from .model import Model, model_of

__all__ = ["Model", "hop", "model_of"]
