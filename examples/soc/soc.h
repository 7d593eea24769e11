/* What a program of this chip's nodes has besides COP: its place in the mesh, and its output. NODE, XSIZE, YSIZE and SIDE are given
 * by soc.py. */
#ifndef SOC_H
#define SOC_H

#include <stdint.h>
#include "pm.h"

#define BRIDGE ((void *)0x20000000)
#define OUTPUT ((volatile int32_t *)0x30000000)
#define MY_X (NODE % XSIZE)
#define MY_Y (NODE / XSIZE)

static inline void output(int32_t word)
{
    OUTPUT[0] = word;
}

/* Output the cycles by category and the changes of phase, and end: with status 0, or 1 if the answer is wrong. */
__attribute__((noreturn)) static inline void finish(struct pm *cop, int wrong)
{
    int k;
    for (k = 0; k < PM_CATEGORIES; k++)
        output((int32_t)cop->cycles[k]);
    output((int32_t)cop->changes);
    OUTPUT[1] = wrong;
    for (;;) {
    }
}

void pm_panic(struct pm *cop, enum pm_error error, const char *label)
{
    (void)cop;
    (void)label;
    OUTPUT[1] = 100 + (int32_t)error;
    for (;;) {
    }
}

int main(void);

/* Where the processor starts; it has set its stack pointer. */
__attribute__((section(".start"), noreturn, used)) void start(void)
{
    main();
    for (;;) {
    }
}

/* What compilers call for structures and loops. */
void *memset(void *to, int byte, __SIZE_TYPE__ size)
{
    unsigned char *at = to;
    while (size--)
        *at++ = (unsigned char)byte;
    return to;
}

void *memcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
    unsigned char *at = to;
    const unsigned char *of = from;
    while (size--)
        *at++ = *of++;
    return to;
}

#endif
