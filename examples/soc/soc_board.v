// The chip on a ULX3S: clock from the PLL, reset after power-up, serial line through USB, lights.
module board (
    input clk_25mhz,
    output ftdi_rxd,        // what the computer receives
    output [7:0] led
);
    wire clk, locked;
    // 25 MHz times `BACK / `INTO; the dividers are those of examples/fpga/board.py.
    EHXPLLL #(
        .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"), .DPHASE_SOURCE("DISABLED"),
        .OUTDIVIDER_MUXA("DIVA"), .CLKOP_ENABLE("ENABLED"), .FEEDBK_PATH("CLKOP"), .CLKOP_FPHASE(0),
        .CLKI_DIV(`INTO), .CLKFB_DIV(`BACK), .CLKOP_DIV(`OUT), .CLKOP_CPHASE(`OUT / 2 - 1)
    ) pll (
        .CLKI(clk_25mhz), .CLKFB(clk), .CLKOP(clk), .LOCK(locked),
        .RST(1'b0), .STDBY(1'b0), .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1),
        .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
    );

    // Memories and the counter are as configured at power-up. All nodes leave reset in one cycle.
    reg [7:0] passed = 0;
    reg [1:0] steady = 0;
    reg rst = 1;
    always @(posedge clk) begin
        steady <= {steady[0], locked};
        if (!(&passed) && steady[1]) passed <= passed + 1'b1;
        rst <= !(&passed);
    end

    wire ended;
    wire [31:0] status;
    soc soc (.clk(clk), .rst(rst), .ended(ended), .status(status), .tx(ftdi_rxd));

    reg [25:0] beat = 0;
    always @(posedge clk) beat <= beat + 1'b1;
    assign led = {5'd0, ended && status != 0, ended && status == 0, beat[25]};
endmodule
