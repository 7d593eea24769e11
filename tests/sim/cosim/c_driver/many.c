/* Many programs in one executable, which makes a process for each connection: it is asked for a program's node. See coupling.py. */
#define _GNU_SOURCE
#include <sanitizer/asan_interface.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "pm.h"
#include "sizes.h"
#include "pipe_port.h"

extern const struct sizes programs[];
const struct sizes *sizes;

/* What lies beyond the program's own sizes must be left alone. */
#define BEYOND(array, count) \
    ASAN_POISON_MEMORY_REGION((char *)cop->array + (count) * sizeof cop->array[0], sizeof cop->array - (count) * sizeof cop->array[0])

void fence(struct pm *cop)
{
    BEYOND(quiet_set, sizes->phases);
    BEYOND(quiet, sizes->phases);
    BEYOND(resident, sizes->blocks);
    BEYOND(behind, sizes->places);
    BEYOND(wanted, sizes->places * PM_COMMAND_WORDS);
    BEYOND(uses, sizes->operators);
    BEYOND(chosen, sizes->entries);
    BEYOND(noted, sizes->entries);
    BEYOND(given, sizes->entries);
    BEYOND(combines, sizes->entries);
    BEYOND(local, 1 + PM_LOCAL * sizes->local);
    BEYOND(temporary, sizes->temporary_words);
}

int main(int count, char **arguments)
{
    static struct pm cop;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path)
        return 1;
    signal(SIGCHLD, SIG_IGN);
    strncpy(address.sun_path, arguments[1], sizeof address.sun_path - 1);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 64))
        return 1;
    for (;;) {
        uint32_t asked[2];
        int way = accept(door, 0, 0);
        if (way < 0 || fork()) {
            close(way);
            continue;
        }
        close(door);
        dup2(way, 0);
        dup2(way, 1);
        if (read(0, asked, sizeof asked) != sizeof asked)
            return 1;
        sizes = &programs[asked[0]];
        sizes->run(&cop, (int)asked[1]);
        say('E', cop.changes, 0);
        _exit(0);
    }
}
