/* What the programs of the nodes may do besides COP: compute, and say which words they have received. */
#include <stdint.h>
struct pm;
void compute(uint32_t cycles);
void heard(uint32_t call, const void *words, uint32_t count);
void run_node(struct pm *cop, int node);
