"""Verilog of hardware that is described in Amaranth, as every simulator and synthesiser reads it."""

from .head import verilog_head
from .verilog import component_verilog, components_verilog

__all__ = ["component_verilog", "components_verilog", "verilog_head"]
