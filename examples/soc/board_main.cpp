// Clocks the board until a line of what its serial line sends begins with P (PASS) or F (FAIL), or for as many cycles as the first
// argument says, and prints that text at the end.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include "Vboard.h"
#include "verilated.h"

int main(int, char **arguments)
{
    VerilatedContext context;
    context.commandArgs(1, arguments);
    Vboard board{&context};
    const uint64_t most = strtoull(arguments[1], nullptr, 10);
    unsigned wait = 0, bits = 0, byte = 0;      // cycles to the middle of the next bit; bits to come
    std::string text;
    bool begins = true, last = false;
    for (uint64_t cycle = 0; cycle < most && !context.gotFinish(); cycle++) {
        board.clk_25mhz = 0;
        board.eval();
        board.clk_25mhz = 1;
        board.eval();
        if (bits == 0 && !board.ftdi_rxd) {
            bits = 9;
            wait = DIVISOR + DIVISOR / 2;
        } else if (bits && --wait == 0) {
            wait = DIVISOR;
            if (--bits) {
                byte = byte >> 1 | board.ftdi_rxd << 7;
                continue;
            }
            if (!board.ftdi_rxd)
                text += "no stop bit\n";
            text += (char)byte;
            last |= begins && (byte == 'P' || byte == 'F');
            begins = byte == '\n';
            if (begins && last)
                break;
        }
    }
    printf("lights %u\nserial\n%s", (unsigned)board.led & 6, text.c_str());
    board.final();
    return 0;
}
