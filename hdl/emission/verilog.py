"""Verilog of a component: plain assignments and clocked processes, plain names of modules.

Amaranth's own writer leaves combinational processes, ``always @*``. Simulators that set initial values before the first process
begins, as Icarus Verilog does with ``-g2009`` and later and as IEEE 1800-2017 (§6.8, §9.2.2.2.2) demands, never run them until an
input changes, so signals stay unknown. So Yosys turns them into multiplexers before it writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil
from amaranth.lib import wiring

_LEFT_OUT = (
    "generator",
    "top",
    "src",
    "hdlname",
    "unused_bits",
    "amaranth.hierarchy",
    "amaranth.decoding",
)
"""Attributes that say nothing to a reader of the Verilog."""


def component_verilog(component: wiring.Component, name: str) -> str:
    """Verilog of a component as module ``name``, and the modules below it as ``name_<path>``.

    The text depends on the component alone: no paths, no dates, no name of a tool.

    Raises
    ------
    amaranth._toolchain.yosys.YosysError
        If Yosys fails; its disk may be full, for example.
    """
    return components_verilog([(component, name)])


def components_verilog(components: Iterable[tuple[wiring.Component, str]]) -> str:
    """Verilog of components, each with its name, one after the other; while Yosys writes one the next is described."""
    with ThreadPoolExecutor(1) as writer:
        texts = [
            writer.submit(_written, rtlil.convert(component, name=name, emit_src=False), name)
            for component, name in components
        ]
        return "".join(text.result() for text in texts)


def _written(described: str, name: str) -> str:
    removed = " ".join(f"-remove {attribute}" for attribute in _LEFT_OUT)
    script = (
        f"read_rtlil <<rtlil\n{described}\nrtlil",
        "proc -norom",
        "memory_collect",
        f"attrmap {removed}",
        f"attrmap -modattr {removed}",
        "write_verilog -norename",
    )
    # As Amaranth asks for; it warns of processes, of which there are none left.
    yosys = find_yosys(lambda version: version >= (0, 40))
    text = yosys.run(["-q", "-"], "\n".join(script), ignore_warnings=True)
    text = re.sub(r"^/\*.*?\*/\n", "", text, count=1)  # the line that names the tool
    # A name that begins with $ is a system function's to Icarus Verilog, even if it is escaped.
    text = re.sub(r"\\\$procmux\$(\d+) ", r"chosen_\1 ", text)
    return re.sub(rf"\\({re.escape(name)}(?:\.\w+)+) +", lambda match: match[1].replace(".", "_") + " ", text)
