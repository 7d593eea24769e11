// A RISC-V node: a PicoRV32 with memory of its own, and a bridge to the processor port of its router.
//
// 0x00000000 memory of WORDS words, from FIRMWARE at power-up; the program starts at 0
// 0x20000000 bridge: the page of the router's registers, then that of control (pointsman verilog host-bridge --bus wishbone)
// 0x30000000 a word written is a word of the program's output; 0x30000004: the program has ended, with this status
module soc_node #(
    parameter NODE = 0,
    parameter WORDS = 16384,
    parameter REGISTERS = 16,
    parameter FIRMWARE = ""
) (
    input clk,
    input rst,
    output [$clog2(REGISTERS)-1:0] p_address,
    output p_write,
    output p_read,
    output [31:0] p_write_data,
    input [REGISTERS-1:0] p_full,
    input [31:0] p_read_data,
    output out_request,         // the program outputs this word, and waits until it is accepted
    output [31:0] out_word,
    input out_accept,
    output reg ended,
    output reg [31:0] status
);
    localparam TRAPPED = 32'd200;   // status of a processor that met an illegal instruction or address

    wire valid, trap;
    wire [31:0] address, data;
    wire [3:0] strobes;
    wire acknowledged, failed;
    wire in_memory = address[31:$clog2(WORDS)+2] == 0;
    wire in_bridge = address[31:28] == 4'h2;
    wire in_output = address[31:28] == 4'h3;
    // The processor waits for ever at an address that holds nothing.
    wire nowhere = valid && (failed || !(in_memory || in_bridge || in_output));

    reg [31:0] memory [0:WORDS-1];
    initial if (FIRMWARE != "") $readmemh(FIRMWARE, memory);
    reg [31:0] fetched;
    reg out_ready;
    wire [31:0] next_address;   // a cycle ahead, so that memory answers at once
    wire [$clog2(WORDS)-1:0] place = address[$clog2(WORDS)+1:2];
    always @(posedge clk) begin
        fetched <= memory[next_address[$clog2(WORDS)+1:2]];
        if (valid && in_memory) begin
            if (strobes[0]) memory[place][7:0] <= data[7:0];
            if (strobes[1]) memory[place][15:8] <= data[15:8];
            if (strobes[2]) memory[place][23:16] <= data[23:16];
            if (strobes[3]) memory[place][31:24] <= data[31:24];
        end
        out_ready <= !rst && valid && !out_ready && in_output && (address[2] || out_accept);
        if (rst) begin
            ended <= 0;
            status <= 0;
        end else if (valid && in_output && address[2]) begin
            ended <= 1;
            status <= data;
        end else if (trap || nowhere) begin
            ended <= 1;
            status <= TRAPPED;
        end
    end
    assign out_request = valid && in_output && !address[2] && !out_ready;
    assign out_word = data;

    wire [31:0] arrived;
    picorv32 #(
        .ENABLE_COUNTERS(0),
        .BARREL_SHIFTER(1),
        .ENABLE_FAST_MUL(1),
        .ENABLE_DIV(1),
        .STACKADDR(4 * WORDS)
    ) cpu (
        .clk(clk), .resetn(!rst), .trap(trap),
        .mem_valid(valid), .mem_ready(valid && (in_memory || out_ready || acknowledged)),
        .mem_la_addr(next_address),
        .mem_addr(address), .mem_wdata(data), .mem_wstrb(strobes),
        .mem_rdata(in_memory ? fetched : arrived),
        .irq(32'd0), .pcpi_wr(1'b0), .pcpi_rd(32'd0), .pcpi_wait(1'b0), .pcpi_ready(1'b0)
    );

    numesh_host bridge (
        .clk(clk), .rst(rst),
        .wbs_cyc(valid && in_bridge), .wbs_stb(valid && in_bridge), .wbs_we(|strobes),
        .wbs_adr(address), .wbs_dat_w(data), .wbs_sel(4'hf),
        .wbs_dat_r(arrived), .wbs_ack(acknowledged), .wbs_err(failed),
        .p_address_0(p_address), .p_write_0(p_write), .p_read_0(p_read), .p_write_data_0(p_write_data),
        .p_full_0(p_full), .p_read_data_0(p_read_data),
        .irq(), .done()
    );

    // What a simulation shows: output, ends, and with +words every access of the router.
`ifndef SYNTHESIS
    reg words, reads;
    reg [$clog2(REGISTERS)-1:0] read_address;
    initial begin
        words = $test$plusargs("words");
        reads = 0;
    end
    always @(posedge clk) begin
        if (out_request && out_accept) $display("out %0d %0d", NODE, $signed(out_word));
        if (!rst && (trap || nowhere)) begin
            $display("trap %0d", NODE);
            $finish;
        end
        reads <= p_read;
        read_address <= p_address;
        if (words && p_write) $display("write %0d %0d %0d", NODE, p_address, p_write_data);
        if (words && reads) $display("read %0d %0d %0d", NODE, read_address, p_read_data);
    end
`endif
endmodule
