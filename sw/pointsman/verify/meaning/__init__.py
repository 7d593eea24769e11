"""What operators mean, and whether the roles of their nodes do that: every call is carried out with words that are terms."""

from __future__ import annotations

from .meaning import check_meaning

__all__ = ["check_meaning"]
