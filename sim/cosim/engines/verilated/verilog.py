"""Verilog of a whole machine around that of a block, written for Verilator.

Takes a description of the hardware. Gives a wrapper `SEAT` with a block and its processor port, and `TOP` with an
instance of the wrapper for each block and the description's ``extra`` text.

The wrapper makes the simulator small and fast. Its ports are public, so that Verilator may not replace an input by its
driver, nor drop an output that is not read: then all wrappers have the same text, and are compiled once for all
blocks. Inputs that C++ sets directly go into registers with a clock of their own. Otherwise Verilator would propagate
them through the logic in every evaluation, twice a cycle, even if they have not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cosim.hardware import SEAT, TOP, Hardware, output

from .dataflow import Promise

BLOCK = "node"
"""Instance name of the block in its wrapper, as waveforms show it."""


def one_block_verilog(hardware: Hardware) -> str:
    """The block's text with a wrapper `SEAT` around it; C++ sets all inputs of the wrapper."""
    inputs = [*_port_inputs(hardware), *((wire.name, wire.width) for wire in hardware.wires if not wire.output)]
    outputs = [*_port_outputs(hardware), *((wire.name, wire.width) for wire in hardware.wires if wire.output)]
    lines = [hardware.verilog, f"module {SEAT}(input wire clk, input wire port_clk, input wire reset);"]
    lines += _registers([*inputs, ("rst", 1)], {"rst": "reset"})
    lines += [f"  wire [{width - 1}:0] {name} /*verilator public_flat_rd*/;" for name, width in outputs]
    lines += [_instance(hardware, [name for name, _ in inputs + outputs]), "endmodule"]
    return "\n".join(lines) + "\n"


def one_block_header(hardware: Hardware, lanes: int) -> str:
    """C++ header with sizes and names of hardware whose blocks are joined at run time."""
    prefix = f"{SEAT}__DOT__"
    signals = {name: f"{prefix}{BLOCK}__DOT__{register.member}" for name, register in hardware.state.items()}
    signals["port.read_data"] = f"{prefix}p_read_data"
    wires = {wire.name: f"{prefix}{'' if wire.output else 'next_'}{_mangled(wire.name)}" for wire in hardware.wires}
    signals |= {f"wire.{name}": member for name, member in wires.items()}
    inputs = {wire.name: wires[wire.name] for wire in hardware.wires if not wire.output}
    outputs = {wire.name: wires[wire.name] for wire in hardware.wires if wire.output}
    flags = {"WRITE_FULL": hardware.write_full, "READ_FULL": hardware.read_full}
    return "".join(
        [
            "#pragma once\n",
            f"#define LANES {lanes}\n",
            f"#define REGISTERS {hardware.registers}u\n",
            f"#define WIDTH {hardware.width}\n",
            f"#define NAME(x) {prefix}##x\n",
            *(
                f'#define {k} {prefix}{_mangled(v)}\n#define {k}_NAME "{prefix}{_mangled(v)}"\n'
                for k, v in flags.items()
            ),
            *(
                f"#define {name}(X) {' '.join(_rows(table))}\n"
                for name, table in (("INPUTS", inputs), ("OUTPUTS", outputs))
            ),
            f"#define SIGNALS(X) {' '.join(_rows(signals))}\n",
            # What this header names stays in one piece. A word of up to 32 bits does so anyway.
            *([f"#define WORD {prefix}next_p_write_data\n"] if hardware.width > 32 else []),
        ]
    )


def promise_of(hardware: Hardware) -> Promise:
    """Outputs that must not depend on which inputs in the same cycle, by the C++ names of `one_block_verilog`.

    In any hardware the flags and the word read must depend on registers only; in ``registered`` hardware all outputs must.
    """
    inputs = [name for name, _ in _port_inputs(hardware)]
    outputs = [name for name, _ in _port_outputs(hardware)]
    members: list[tuple[str, str]] = []
    if hardware.registered:
        inputs += [wire.name for wire in hardware.wires if not wire.output]
        outputs += [wire.name for wire in hardware.wires if wire.output]
        members.append(("reset", "rst"))
    prefix = f"{SEAT}__DOT__"
    members += [(f"{prefix}{start}{_mangled(name)}", name) for name in inputs for start in ("", "next_")]
    return Promise(
        module=hardware.module,
        inputs=tuple(members),
        outputs=tuple((f"{prefix}{_mangled(name)}", name) for name in outputs),
        registered=hardware.registered,
    )


def joints_of(hardware: Hardware) -> list[tuple[int, int, int, int, int]] | None:
    """Joints as numbers: block, its input, the other block or -1, its output, a constant.

    None if any joint is an expression that is neither an output nor a constant.
    """
    inputs = [wire.name for wire in hardware.wires if not wire.output]
    outputs = [wire.name for wire in hardware.wires if wire.output]
    known = {output(i, name): (i, k) for i in range(hardware.blocks) for k, name in enumerate(outputs)}
    found = []
    for block, joined in enumerate(hardware.joints):
        for name, expression in joined.items():
            constant = re.fullmatch(r"(?:\d+'(?:d(\d+)|h([0-9a-fA-F]+)|b([01]+)))|(\d+)", expression)
            if expression in known:
                found.append((block, inputs.index(name), *known[expression], 0))
            elif constant:
                digits = [(constant[1], 10), (constant[2], 16), (constant[3], 2), (constant[4], 10)]
                value = next(int(text, base) for text, base in digits if text is not None)
                found.append((block, inputs.index(name), -1, 0, value))
            else:
                return None
    return found


def machine_verilog(hardware: Hardware) -> str:
    """The block's text, its wrapper and the machine. The top module is `TOP`."""
    return "\n".join([hardware.verilog, _seat(hardware), _top(hardware)])


def instance(number: int) -> str:
    """Name of the wrapper of a block in the machine."""
    return f"seat_{number}"


def verilator_settings(hardware: Hardware, *, one: bool = False) -> str:
    """Verilator's configuration file: inlined modules, public signals; ``one``: for a single block."""
    lines = ["`verilator_config", f'inline -module "{hardware.module}"']
    if not one:
        lines.insert(1, f'no_inline -module "{SEAT}"')
    seen: dict[tuple[str, str], bool] = {}
    for register in (*hardware.state.values(), *hardware.top_state.values()):
        key = (register.module, register.variable)
        seen[key] = seen.get(key, False) or register.writable
    for (module, variable), writable in seen.items():
        access = "public_flat_rw" if writable else "public_flat_rd"
        lines.append(f'{access} -module "{module}" -var "{variable}"')
    return "\n".join(lines) + "\n"


def build_header(hardware: Hardware) -> str:
    """C++ header with the hardware's sizes, wrappers and names of state."""
    seats = ", ".join(f"&(S)->TOP__{TOP}__DOT__{instance(i)}" for i in range(hardware.blocks))
    members = {name: f"{BLOCK}__DOT__{register.member}" for name, register in hardware.state.items()}
    members["port.read_data"] = "p_read_data"
    top = {name: f"{TOP}__DOT__{register.member}" for name, register in hardware.top_state.items()}
    return (
        "#pragma once\n"
        f"#define NODES {hardware.blocks}u\n"
        f"#define REGISTERS {hardware.registers}u\n"
        f"#define WIDTH {hardware.width}\n"
        f"#define WRITE_FULL {hardware.write_full}\n"
        f"#define READ_FULL {hardware.read_full}\n"
        f"#define SEATS(S) {{{seats}}}\n"
        f"#define SIGNALS(X) {_table(members)}\n"
        f"#define TOP_SIGNALS(X) {_table(top)}\n"
    )


def _table(members: dict[str, str]) -> str:
    return " ".join(f'X("{name}", {member})' for name, member in members.items())


def _rows(members: dict[str, str]) -> Iterator[str]:
    return (f'X("{name}", "{member}")' for name, member in members.items())


def _mangled(name: str) -> str:
    """``name`` as Verilator writes it."""
    return name.replace("__", "___05F")


def _address_bits(registers: int) -> int:
    return max(1, (registers - 1).bit_length())


def _port_inputs(hardware: Hardware) -> list[tuple[str, int]]:
    address = ("p_address", _address_bits(hardware.registers))
    return [address, ("p_write", 1), ("p_read", 1), ("p_write_data", hardware.width)]


def _port_outputs(hardware: Hardware) -> list[tuple[str, int]]:
    flags = dict.fromkeys((hardware.write_full, hardware.read_full))
    return [*((name, hardware.registers) for name in flags), ("p_read_data", hardware.width)]


def _registers(inputs: list[tuple[str, int]], driven: dict[str, str]) -> list[str]:
    """Registers that take inputs set by C++ (``next_…``), or a port of the wrapper for inputs in ``driven``."""
    lines = []
    for name, width in inputs:
        if name not in driven:
            lines.append(f"  reg [{width - 1}:0] next_{name} /*verilator public_flat_rw*/;")
        lines.append(f"  reg [{width - 1}:0] {name};")
    lines.append("  always @(edge port_clk) begin")
    lines += [f"    {name} <= {driven.get(name, f'next_{name}')};" for name, _ in inputs]
    lines.append("  end")
    return lines


def _instance(hardware: Hardware, names: list[str]) -> str:
    return f"  {hardware.module} {BLOCK}({', '.join(f'.{name}({name})' for name in ['clk', 'rst', *names])});"


def _seat(hardware: Hardware) -> str:
    inputs, outputs = _port_inputs(hardware), _port_outputs(hardware)
    lines = [f"module {SEAT}(input wire clk, input wire rst, input wire port_clk"]
    for wire in hardware.wires:
        direction = "output" if wire.output else "input"
        lines.append(f"  , {direction} wire [{wire.width - 1}:0] {wire.name} /*verilator public_flat_rd*/")
    lines.append(");")
    lines += _registers(inputs, {})
    lines += [f"  wire [{width - 1}:0] {name} /*verilator public_flat_rd*/;" for name, width in outputs]
    lines.append(
        _instance(hardware, [*(wire.name for wire in hardware.wires), *(name for name, _ in inputs + outputs)])
    )
    lines.append("endmodule")
    return "\n".join(lines) + "\n"


def _top(hardware: Hardware) -> str:
    lines = [
        f"module {TOP}(input wire clk, input wire port_clk, input wire reset);",
        "  reg rst;",
        "  always @(edge port_clk) rst <= reset;",
    ]
    for i in range(hardware.blocks):
        for wire in hardware.wires:
            if wire.output:
                lines.append(f"  wire [{wire.width - 1}:0] {output(i, wire.name)};")
    if hardware.extra:
        lines.append(hardware.extra.rstrip("\n"))
    for i in range(hardware.blocks):
        joined = hardware.joints[i] if hardware.joints else {}
        joints = [".clk(clk)", ".rst(rst)", ".port_clk(port_clk)"]
        for wire in hardware.wires:
            driver = output(i, wire.name) if wire.output else joined.get(wire.name, f"{wire.width}'d0")
            joints.append(f".{wire.name}({driver})")
        lines.append(f"  {SEAT} {instance(i)}({', '.join(joints)});")
    lines.append("endmodule")
    return "\n".join(lines) + "\n"
