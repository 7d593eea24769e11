/* Processor port of a simulated node, at the other end of standard input and output: see coupling.py. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "pm.h"
#include "pm_port.h"
#include "pipe_port.h"

static void all(int out, void *data, size_t size)
{
    unsigned char *at = data;
    while (size) {
        ssize_t done = out ? write(1, at, size) : read(0, at, size);
        if (done <= 0)
            exit(3);
        at += done;
        size -= (size_t)done;
    }
}

void say(uint32_t what, uint32_t a, uint32_t b)
{
    uint32_t said[3] = {what, a, b};
    all(1, said, sizeof said);
}

static uint32_t ask(uint32_t what, uint32_t a, uint32_t b)
{
    uint32_t answer;
    say(what, a, b);
    all(0, &answer, sizeof answer);
    return answer;
}

int pm_port_full(void *port, unsigned r) { (void)port; return (int)ask('F', r, 0); }
void pm_port_put(void *port, unsigned r, uint32_t word) { (void)port; ask('P', r, word); }
uint32_t pm_port_get(void *port, unsigned r) { (void)port; return ask('G', r, 0); }
void pm_port_drain(void *port, unsigned r) { (void)port; ask('D', r, 0); }
uint32_t pm_port_time(void *port) { (void)port; return ask('T', 0, 0); }
void pm_port_until(void *port, uint32_t time) { (void)port; ask('U', time, 0); }
void pm_port_put_at(void *port, uint32_t time, unsigned r, uint32_t word)
{
    pm_port_until(port, time);
    pm_port_put(port, r, word);
}

void compute(uint32_t cycles) { ask('C', cycles, 0); }

void heard(uint32_t call, const void *words, uint32_t count)
{
    say('H', call, count);
    all(1, (void *)(uintptr_t)words, 4 * (size_t)count);
}

void pm_panic(struct pm *cop, enum pm_error error, const char *label)
{
    fprintf(stderr, "'%s' at node %d", label, cop->node ? cop->node->number : -1);
    say('X', (uint32_t)error, 0);
    exit(2);
}

#ifndef MANY
int main(int count, char **arguments)
{
    static struct pm cop;
    if (count != 2)
        return 1;
    run_node(&cop, atoi(arguments[1]));
    say('E', cop.changes, 0);
    return 0;
}
#endif
