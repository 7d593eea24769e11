// The board's PLL in a simulation: what clocks the board is the clock of the chip.
module EHXPLLL #(
    parameter PLLRST_ENA = "", parameter INTFB_WAKE = "", parameter STDBY_ENABLE = "", parameter DPHASE_SOURCE = "",
    parameter OUTDIVIDER_MUXA = "", parameter CLKOP_ENABLE = "", parameter FEEDBK_PATH = "",
    parameter CLKI_DIV = 1, parameter CLKFB_DIV = 1, parameter CLKOP_DIV = 1, parameter CLKOP_CPHASE = 0,
    parameter CLKOP_FPHASE = 0
) (
    input CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    output CLKOP, LOCK
);
    assign CLKOP = CLKI;
    assign LOCK = 1;
endmodule
