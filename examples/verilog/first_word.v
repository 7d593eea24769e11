// A node driven from Verilog: five commands make it pass every word of link 0 on to link 1, one a cycle.
//
// The module numesh_node is that of the standard shape: pointsman verilog numesh --mesh 2x2 -o mesh.v

module first_word (
    input clk,
    output moved,        // a word is on link 1
    output [31:0] word
);
    // Reset lasts as many cycles as a pipeline has VFSMs.
    reg [5:0] age = 0;
    wire rst = !age[5];
    always @(posedge clk) if (rst) age <= age + 1;

    // Commands go through interface register 0, in which VFSM 1 of the loader phase finds them.
    reg [2:0] step = 0;
    wire [31:0] command =
        step == 0 ? 32'h00010012 :        // ANNOTATION   VFSM 2 of pipeline 0: from link 0 to link 1
        step == 1 ? 32'h0001001a :        // ANNOTATION   VFSM 3: the same
        step == 2 ? 32'h00200811 :        // SCHEDULE     entry 2: VFSM 2 and NOP; two slots on: entry 2
        step == 3 ? 32'h00300c19 :        // SCHEDULE     entry 3: VFSM 3 and NOP; two slots on: entry 3
                    32'h00000c13;         // SET_POINTER  go on at 2, and in the slot after at 3
    wire [15:0] full;
    wire write = !rst && step < 5 && !full[0];
    always @(posedge clk) if (write) step <= step + 1;

    // The neighbour at link 0: it always has a word, and goes on to the next when one is taken.
    reg [31:0] count = 0;
    wire taken;
    always @(posedge clk) if (taken) count <= count + 1;

    numesh_node node (
        .clk(clk), .rst(rst),
        .in_valid_0(1'b1), .in_data_0(count), .in_accept_0(taken),
        .out_valid_0(), .out_data_0(), .out_accept_0(1'b0),
        .in_valid_1(1'b0), .in_data_1(32'd0), .in_accept_1(),
        .out_valid_1(moved), .out_data_1(word), .out_accept_1(1'b1),
        .in_valid_2(1'b0), .in_data_2(32'd0), .in_accept_2(),
        .out_valid_2(), .out_data_2(), .out_accept_2(1'b0),
        .in_valid_3(1'b0), .in_data_3(32'd0), .in_accept_3(),
        .out_valid_3(), .out_data_3(), .out_accept_3(1'b0),
        .p_address(4'd0), .p_write(write), .p_read(1'b0), .p_write_data(command),
        .p_full(full), .p_read_data()
    );
endmodule
