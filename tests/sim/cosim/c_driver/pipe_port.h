/* What the programs of the nodes may do besides COP: compute, and say which words they have received. */
#include <stdint.h>
struct pm;
void compute(uint32_t cycles);
void heard(uint32_t call, const void *words, uint32_t count);
void run_node(struct pm *cop, int node);
void say(uint32_t what, uint32_t a, uint32_t b);
/* Functions of programs that are linked together may have equal names; they are equal then. */
#define WEAK __attribute__((__weak__))
