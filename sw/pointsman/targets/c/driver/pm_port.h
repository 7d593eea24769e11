/* How the driver reaches a node's processor port.
 *
 * As it stands: through the registers of a bridge (`pointsman verilog host-bridge`), whose accesses wait until they can be made. `port` is
 * the address of the node's page, PM_TIME that of the bridge's counter of cycles (word CYCLES_LOW of its control page).
 *
 * With PM_PORT_EXTERN the program brings these functions itself, for another bus or for a simulation.
 */
#ifndef PM_PORT_H
#define PM_PORT_H

#include <stdint.h>

#ifdef PM_PORT_EXTERN

/* 1 if interface register `r` holds a word, 0 if it is empty. */
int pm_port_full(void *port, unsigned r);
/* Fill register `r`, once it is empty. */
void pm_port_put(void *port, unsigned r, uint32_t word);
/* Take the word of register `r`, once there is one. Of a register that the processor writes it has none: those are the router's. */
uint32_t pm_port_get(void *port, unsigned r);
/* Wait until register `r` is empty. */
void pm_port_drain(void *port, unsigned r);
/* Cycles of the routers' clock since reset, the same for all nodes, modulo 2^32. */
uint32_t pm_port_time(void *port);
/* Wait until `pm_port_time` is `time`, or later. */
void pm_port_until(void *port, uint32_t time);
/* Fill register `r` in cycle `time` exactly. Used once, by `pm_init`, and not if the routers' memories are preloaded. */
void pm_port_put_at(void *port, uint32_t time, unsigned r, uint32_t word);

#else

#ifndef PM_TIME
#error "define PM_TIME, the address of a 32-bit counter of the routers' cycles, or PM_PORT_EXTERN"
#endif
#ifndef PM_PRELOADED
#error "through a bridge no word is written in a given cycle: preload the routers and define PM_PRELOADED, or PM_PORT_EXTERN"
#endif
/* Words from the first register of a page to the first word of full bits: `full` less `registers` in the bridge's map. */
#ifndef PM_FULL_WORDS
#define PM_FULL_WORDS (PM_REGISTERS <= 4 ? 4 : PM_REGISTERS <= 8 ? 8 : PM_REGISTERS <= 16 ? 16 : PM_REGISTERS <= 32 ? 32 \
                     : PM_REGISTERS <= 64 ? 64 : PM_REGISTERS <= 128 ? 128 : 256)
#endif

static inline int pm_port_full(void *port, unsigned r)
{
#if PM_REGISTERS <= 32
    return (int)(((volatile uint32_t *)port)[PM_FULL_WORDS] >> r & 1);
#else
    return (int)(((volatile uint32_t *)port)[PM_FULL_WORDS + r / 32] >> (r % 32) & 1);
#endif
}

static inline void pm_port_put(void *port, unsigned r, uint32_t word)
{
    ((volatile uint32_t *)port)[r] = word;
}

static inline uint32_t pm_port_get(void *port, unsigned r)
{
    return ((volatile uint32_t *)port)[r];
}

static inline void pm_port_drain(void *port, unsigned r)
{
    while (pm_port_full(port, r)) {
    }
}

static inline uint32_t pm_port_time(void *port)
{
    (void)port;
    return *(volatile uint32_t *)(PM_TIME);
}

static inline void pm_port_until(void *port, uint32_t time)
{
    while ((int32_t)(pm_port_time(port) - time) < 0) {
    }
}

#endif
#endif
