// What the nodes output, as text on a serial line of eight bits without parity, a bit in DIVISOR cycles:
//
//     2 FFFFFF9C            a word of node 2's program
//     PASS cycles 00044210  all have ended with status 0; cycles (decimal) until each node had a word to output
//     FAIL status 00000001  a node has ended with a status that is not 0; this (hexadecimal) is the OR of all statuses
//
// A node waits until its word is accepted. With DIVISOR 0 words are accepted at once and nothing is sent.
module soc_serial #(
    parameter NODES = 4,
    parameter DIVISOR = 0
) (
    input clk,
    input rst,
    input [NODES-1:0] requests,
    input [32*NODES-1:0] words,
    output [NODES-1:0] accepts,
    input ended,
    input [31:0] status,
    output tx
);
    reg [NODES-1:0] began;
    always @(posedge clk) began <= rst ? {NODES{1'b0}} : began | requests;

    generate
        if (DIVISOR == 0) begin : silent
            assign accepts = requests;
            assign tx = 1;
        end else begin : speaking
            localparam LENGTH = 22;
            wire [NODES-1:0] first = requests & (~requests + 1'b1);
            reg [8*LENGTH-1:0] text;    // the next character lowest
            reg [4:0] characters;
            reg [8:0] bits;             // what is sent after the present bit
            reg [3:0] left;
            reg [$clog2(DIVISOR)-1:0] wait_cycles;
            reg line, said;
            reg [31:0] decimal;
            wire idle = !rst && characters == 0 && left == 0;
            assign accepts = idle ? first : {NODES{1'b0}};
            assign tx = line;

            function [7:0] digit(input [3:0] value);
                digit = value < 10 ? 8'd48 + value : 8'd55 + value;
            endfunction
            function [63:0] digits(input [31:0] value);     // the first character lowest
                integer k;
                for (k = 0; k < 8; k = k + 1) digits[8*k +: 8] = digit(value[28-4*k +: 4]);
            endfunction
            function [3:0] number_of(input [NODES-1:0] one);
                integer k;
                begin
                    number_of = 0;
                    for (k = 0; k < NODES; k = k + 1) if (one[k]) number_of = k;
                end
            endfunction
            function [31:0] word_of(input [NODES-1:0] one, input [32*NODES-1:0] all);
                integer k;
                begin
                    word_of = 0;
                    for (k = 0; k < NODES; k = k + 1) if (one[k]) word_of = word_of | all[32*k +: 32];
                end
            endfunction
            function [31:0] next_decimal(input [31:0] value);
                integer k;
                reg carry;
                begin
                    carry = 1;
                    for (k = 0; k < 8; k = k + 1) begin
                        next_decimal[4*k +: 4] = !carry ? value[4*k +: 4] : value[4*k +: 4] == 9 ? 4'd0 : value[4*k +: 4] + 4'd1;
                        carry = carry && value[4*k +: 4] == 9;
                    end
                end
            endfunction

            // Constants have the first character highest.
            localparam [95:0] PASS = "PASS cycles ";
            localparam [95:0] FAIL = "FAIL status ";
            function [95:0] turned(input [95:0] characters);
                integer k;
                for (k = 0; k < 12; k = k + 1) turned[8*k +: 8] = characters[88-8*k +: 8];
            endfunction

            always @(posedge clk) begin
                if (!(&began)) decimal <= next_decimal(decimal);
                if (left != 0) begin
                    wait_cycles <= wait_cycles == DIVISOR - 1 ? 0 : wait_cycles + 1'b1;
                    if (wait_cycles == DIVISOR - 1) begin
                        line <= bits[0];
                        bits <= {1'b1, bits[8:1]};
                        left <= left - 1'b1;
                    end
                end else if (characters != 0) begin
                    line <= 0;
                    bits <= {1'b1, text[7:0]};
                    text <= text >> 8;
                    characters <= characters - 1'b1;
                    left <= 10;
                    wait_cycles <= 0;
                end else if (requests != 0) begin
                    text <= {16'h0A0D, digits(word_of(first, words)), 8'd32, digit(number_of(first))};
                    characters <= 12;
                end else if (ended && !said) begin
                    text <= {16'h0A0D, status == 0 ? {digits(decimal), turned(PASS)} : {digits(status), turned(FAIL)}};
                    characters <= LENGTH;
                    said <= 1;
                end
                if (rst) begin
                    line <= 1;
                    said <= 0;
                    characters <= 0;
                    left <= 0;
                    wait_cycles <= 0;
                    decimal <= 0;
                end
            end
        end
    endgenerate

`ifndef SYNTHESIS
    integer cycles;
    always @(posedge clk) begin
        cycles <= rst ? 0 : cycles + 1;
        if (!rst && !(&began) && &(began | requests)) $display("computed %0d", cycles + 1);
    end
`endif
endmodule
