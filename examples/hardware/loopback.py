"""A block of one's own under Python programs: the smallest hardware that the engine takes.

Each block is a mailbox: what its processor writes to register 0 comes out of register 0 of the block that its output is
joined to, a cycle later. A counter in the top module counts the cycles in which any word is on the way.

    python examples/hardware/loopback.py
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from cosim.hardware import Hardware, Register, Wire, output
from cosim.machine import HardwareMachine
from pointsman.runtime.api.requests import Lane, Transfer

VERILOG = """
module mailbox(input clk, input rst,
               input p_address, input p_write, input p_read, input [15:0] p_write_data,
               output reg [15:0] p_read_data, output p_write_full, output p_read_full,
               output [15:0] out_data, output out_valid, input out_accept,
               input [15:0] in_data, input in_valid, output in_accept);
    reg [15:0] outgoing, incoming;
    reg out_full, in_full;
    reg [31:0] delivered;
    assign p_write_full = out_full;    // flags: registers alone
    assign p_read_full = in_full;
    assign out_data = outgoing, out_valid = out_full;
    assign in_accept = !in_full;
    always @(posedge clk)
        if (rst) begin
            out_full <= 0; in_full <= 0; delivered <= 0; p_read_data <= 0;
        end else begin
            if (out_valid && out_accept) out_full <= 0;
            if (p_write) begin outgoing <= p_write_data; out_full <= 1; end
            if (in_valid && in_accept) begin incoming <= in_data; in_full <= 1; end
            if (p_read) begin p_read_data <= incoming; in_full <= 0; delivered <= delivered + 1; end
        end
endmodule

module traffic(input clk, input rst, input any);
    reg [31:0] busy;
    always @(posedge clk) if (rst) busy <= 0; else if (any) busy <= busy + 1;
endmodule
"""


def ring(blocks: int) -> Hardware:
    """Mailboxes in a ring: each sends to the next one; one alone to itself."""
    joints = []
    for i in range(blocks):
        before, after = (i - 1) % blocks, (i + 1) % blocks
        joints.append(
            {
                "in_data": output(before, "out_data"),
                "in_valid": output(before, "out_valid"),
                "out_accept": output(after, "in_accept"),
            }
        )
    valid = ", ".join(output(i, "out_valid") for i in range(blocks))
    return Hardware(
        name=f"{blocks} mailboxes",
        blocks=blocks,
        module="mailbox",
        verilog=VERILOG,
        registers=1,
        width=16,
        write_full="p_write_full",
        read_full="p_read_full",
        wires=[
            Wire(name="out_data", width=16, output=True),
            Wire(name="out_valid", output=True),
            Wire(name="out_accept"),
            Wire(name="in_data", width=16),
            Wire(name="in_valid"),
            Wire(name="in_accept", output=True),
        ],
        joints=joints,
        extra=f"traffic traffic(.clk(clk), .rst(rst), .any(|{{{valid}}}));",
        state={"delivered": Register("mailbox", "delivered", writable=True)},
        top_state={"busy": Register("traffic", "busy", "traffic")},
        quiet_cycles=100,
    )


def exchange(node: int, words: int) -> Generator[Any, None, list[int]]:
    """The program of a processor: send some words and take as many."""
    out = np.arange(1000 * node, 1000 * node + words, dtype=np.uint32)
    into = np.zeros(words, dtype=np.uint32)
    yield Transfer([Lane(False, 0, words, into), Lane(True, 0, words, out)])
    return into.tolist()


def main() -> None:
    hardware = ring(4)
    with HardwareMachine(hardware) as machine:
        record = machine.run([exchange(node, 3) for node in range(hardware.blocks)])
        print("received:", record.results)
        print("cycles:", record.total_cycles, "words delivered:", machine.peek("delivered"))
        print("cycles with a word under way:", machine.peek_top("busy"))


if __name__ == "__main__":
    main()
