// Clocks the chip until all of its nodes have ended, or for as many cycles as the first argument says.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include "Vsoc.h"
#include "verilated.h"

int main(int count, char **arguments)
{
    VerilatedContext context;
    context.commandArgs(count, arguments);
    Vsoc soc{&context};
    const uint64_t most = count > 1 ? strtoull(arguments[1], nullptr, 10) : 10000000;
    uint64_t cycle = 0;
    for (; cycle < most && !context.gotFinish() && !soc.ended; cycle++) {
        soc.rst = cycle < RESET_CYCLES;
        soc.clk = 0;
        soc.eval();
        soc.clk = 1;
        soc.eval();
    }
    printf("cycles %llu\n", (unsigned long long)(cycle - RESET_CYCLES));
    printf("status %u\n", soc.ended ? (unsigned)soc.status : ~0u);
    soc.final();
    return 0;
}
