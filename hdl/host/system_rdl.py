"""The registers of a bridge in SystemRDL 2.0: what generators of C headers, documentation and IP-XACT read.

Made of `shape.HostShape` and the words of `emit`, as the address map in JSON is. The page of a node is a ``regfile``: registers,
full bits, masks.
"""

from __future__ import annotations

from .emit import MODULE, WORDS
from .shape import CONTROL, HostShape

_ACCESS = {"read": "r", "read, write": "rw", "read, 1 clears": "rw"}


def system_rdl(shape: HostShape) -> str:
    """The address map ``numesh_host`` with all registers of a bridge; addresses are those of bytes."""
    width, page, step = shape.width, shape.page * shape.bytes, shape.bytes
    flags = shape.flag_words
    lines = [
        f"// Registers of a bridge to {shape.nodes} NuMesh nodes.",
        f"addrmap {MODULE} {{",
        '    name = "Bridge to NuMesh nodes";',
        f"    default regwidth = {width};",
        f"    default accesswidth = {width};",
        "",
        "    reg interface_register {",
        '        name = "interface register";',
        '        desc = "A write fills the register, a read takes its word.";',
        f"        field {{ sw = rw; hw = rw; onread = ruser; onwrite = wuser; }} word[{width - 1}:0];",
        "    };",
        "    reg full_bits {",
        '        name = "full bits";',
        '        desc = "Bit r of all words together: register r holds a word.";',
        f"        field {{ sw = r; hw = w; }} full[{width - 1}:0];",
        "    };",
        "    reg interrupt_mask {",
        '        name = "masks";',
        '        desc = "Full registers that interrupt the host.";',
        f"        field {{ sw = rw; hw = r; }} mask[{width - 1}:0] = 0;",
        "    };",
        "    regfile node_page {",
        '        name = "node";',
        f"        external interface_register data[{shape.registers}] @ 0x0 += {step:#x};",
        f"        full_bits full[{flags}] @ {shape.full(0):#x} += {step:#x};",
        f"        interrupt_mask mask[{flags}] @ {shape.mask(0):#x} += {step:#x};",
        "    };",
        "",
        f"    node_page node[{shape.nodes}] @ 0x0 += {page:#x};",
    ]
    for word in CONTROL:
        access, about = WORDS[word]
        written = _ACCESS[access]
        clear = " onwrite = woclr;" if access.endswith("clears") else ""
        hardware = "r" if word in ("DONE", "ENABLE") else "rw" if written == "rw" else "w"
        lines += [
            "    reg {",
            f'        name = "{word}";',
            f'        desc = "{about}";',
            f"        field {{ sw = {written}; hw = {hardware};{clear} }} value[{width - 1}:0];",
            f"    }} {word.lower()} @ {shape.control(word):#x};",
        ]
    return "\n".join([*lines, "};", ""])
