/* Driver of a compiled COP program on a node's processor: freestanding C99, no allocation, no globals.
 *
 * The functions of the program (`b_load`, `b_write`, `b_read`, `c_func` …; Metcalf 1997, §2.7) are in the header of its name; they call
 * what is declared here. The tables `const struct pm_node` say what a node's router and processor do; `pointsman compile --emit c` writes
 * them. docs/cop_in_c.md explains the whole.
 */
#ifndef PM_H
#define PM_H

#include <stdint.h>
#include "pm_sizes.h" /* PM_PHASES … : the sizes of this program */

/* A word of a message or a command. It may stand for items of any type. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) pm_word;
#define PM_ALIGNED __attribute__((__aligned__(8))) /* for items of 64 bits */
#else
typedef uint32_t pm_word;
#define PM_ALIGNED
#endif

/* Processors that are slower than one access a cycle. Times in the tables are for a processor whose accesses follow each other cycle by
 * cycle and which changes its phase as soon as a barrier lets it. */
#ifndef PM_PACE
#define PM_PACE 1 /* most cycles from one access to the next within an I/O function */
#endif
#ifndef PM_SLACK
#define PM_SLACK 0 /* most cycles from the word that opens a closing barrier to the command that changes the phase */
#endif
#ifndef PM_LOCAL
#define PM_LOCAL 4 /* messages that a node may have sent to itself and not read, of each operator */
#endif
#if PM_PACE < 1 || PM_SLACK < 0
#error "PM_PACE must be 1 or more, PM_SLACK 0 or more"
#endif
#if PM_LOCAL < 1 || PM_LOCAL > 255
#error "PM_LOCAL must be 1 to 255"
#endif

#define PM_HERE (-2)    /* run-time value: this node itself (operators whose value not every node knows) */
#define PM_UNKNOWN (-1) /* run-time value: this node does not know it */
#define PM_LOADER (-1)  /* phase number: the loader phase; as a phase to go on to: the end of the program */

/* Messages that a lane or a combination names; PM_TEMPORARY + k is the k-th intermediate message. */
enum { PM_OUT, PM_IN, PM_TOKEN, PM_NOTHING, PM_TEMPORARY };

/* Words that go one way between processor and router. */
struct pm_lane {
    const uint8_t *registers; /* word k goes through registers[k % count] */
    uint8_t count;            /* interface registers */
    uint8_t write;            /* 1: processor to router, 0: router to processor */
    uint8_t data;             /* message whose words these are: PM_OUT, PM_IN, PM_TOKEN (contents do not matter), PM_TEMPORARY + k */
    uint8_t after_all;        /* with after: no word before that lane is complete */
    int16_t after;            /* word k may move when that lane of the group has moved more than k words; -1: at any time */
    int16_t pair;             /* at most `window` words ahead of that lane of the group; -1: any number */
    uint32_t window;
    int32_t words;            /* words that move; -1: the message length */
};

/* Lanes that move together: in each turn the first that can makes an access. */
struct pm_group {
    const struct pm_lane *lanes;
    uint16_t count;
    uint16_t step; /* groups of a call move in the order of their steps */
    int16_t turn;  /* call n of the I/O function moves the groups with turn n % role.turns; PM_SYNC: the load function moves it */
};
#define PM_SYNC (-1)

/* result = function(left, right), before the groups of `step` move; right PM_NOTHING: a copy of left. */
struct pm_combination {
    uint16_t step;
    uint8_t left, right, result;
};

/* An annotation that a load function puts into the router. */
struct pm_rewrite {
    uint16_t place;                    /* index in the phase's `places` */
    pm_word command[PM_COMMAND_WORDS]; /* to the command register of the place's pipeline */
};

/* A command for another node's router, which travels as a word of data. */
struct pm_remote {
    uint8_t interface; /* register it is written to */
    pm_word word;
};

enum pm_part { PM_NONE, PM_WRITE, PM_READ, PM_BOTH, PM_FUNC };

/* What a node does in an operator for some of its run-time values. */
struct pm_role {
    uint8_t part;       /* enum pm_part: I/O functions that the node may call */
    uint8_t local;      /* 1: the node sends to itself only; the message is copied */
    uint8_t result;     /* 1: what arrives means something to the application */
    uint8_t empty;      /* 1: the node takes part without a message of its own (it is not :valid) */
    uint8_t receives;   /* 1: words come into the message that is received; 0: it is zeros, as over the edge of an eoshift */
    uint8_t exchanges;  /* 1: words move in its I/O functions */
    uint8_t meets;      /* 1: its load function passes a barrier of the operator's own */
    int16_t second;     /* first step that runs the phase's second schedule; -1: none */
    uint16_t turns;     /* groups repeat after this many calls */
    uint16_t steps;     /* steps of a call */
    uint16_t temporaries; /* intermediate messages */
    uint16_t groups_count, combinations_count, rewrites_count, remotes_count;
    uint32_t delay;     /* cycles after a call until no word of the operator is left in this router; 0: none is left */
    const struct pm_group *groups;
    const struct pm_combination *combinations;
    const struct pm_rewrite *rewrites;
    const struct pm_remote *remotes;
};

/* struct pm_operator.flags */
#define PM_SYNCHRONISED 1u /* all nodes rewrite together, while no word is under way */
#define PM_GATED 2u        /* stages are gates, which func opens in turn */
#define PM_REMOTE 4u       /* the writing node sends commands to the others' routers */
#define PM_PARTIAL 8u      /* a node knows of the value only whether it names the node */
#define PM_SHARED 16u      /* its phase has other operators */
#define PM_FUNCTIONAL 32u  /* func instead of write and read */

/* An operator at a node, in one phase. */
struct pm_operator {
    const char *label;            /* as in the COP program */
    int16_t phase;                /* its phase; the first, if it continues through several */
    int16_t enters;               /* phase that load enters if the operator continues; -1: it does not */
    uint32_t m;                   /* words of a message */
    uint16_t flags;
    uint16_t stages;              /* roles[role_of[value * stages + stage]] */
    uint16_t values_count;        /* legal combinations of run-time values */
    uint16_t operands;            /* run-time values that are nodes or distances */
    uint16_t position;            /* of the node in its instance */
    uint16_t nodes;               /* of its instance */
    uint32_t local;               /* where its messages to the node itself begin in pm.local, a PM_LOCAL-th */
    const int32_t *values;        /* values_count times `operands` numbers */
    const uint16_t *role_of;
    const struct pm_role *roles;
    const uint16_t *phases;       /* phases that it continues through, ended by PM_END; null: none */
    const uint16_t *first;        /* operators of this node that must be used before it, ended by PM_END; null: none */
};
#define PM_END 0xFFFFu

/* An operator of the program at a node: one of `operators`, or several of which the value chooses one. */
struct pm_entry {
    const uint16_t *operators; /* indices in pm_node.operators, in the order of their phases */
    uint16_t count;            /* 0: the node is not in the operator's subset */
    uint16_t group;            /* of entries whose values choose a phase together, from 1 on; 0: there is nothing to choose */
    uint16_t last;             /* 1: its load function is the last of the group's, and enters the phase */
    const char *label;         /* as in the COP program */
};

/* A VFSM of a phase. */
struct pm_place {
    uint8_t pipeline;
    uint8_t contested; /* 1: other phases overwrite it */
    uint16_t vfsm;
};

/* Cycles to wait before a phase, after another has been left. */
struct pm_settle {
    int16_t phase;
    uint32_t cycles;
};

/* A phase at a node. */
struct pm_phase {
    const char *name;
    uint16_t block;               /* block of the schedule memory */
    uint16_t second;              /* block of its second schedule; 0: none */
    uint16_t entries_count;       /* commands in `entries` */
    uint16_t places_count;
    uint32_t first;               /* index of its first place in pm.wanted and pm.behind */
    uint8_t ends;                 /* enum pm_end */
    uint8_t meets;                /* groups in `barrier`: this node's part in the barrier that closes the phase */
    const pm_word *entries;       /* commands that write its schedules, PM_COMMAND_WORDS each */
    const struct pm_place *places;
    const pm_word *annotations;   /* commands that write its annotations as before any load function, one a place */
    const uint16_t *slots;        /* by pipeline, slots of a period that carry out commands */
    const struct pm_settle *settles;
    uint16_t settles_count;
    const struct pm_group *barrier;
    uint32_t barrier_delay;       /* cycles from the barrier until none of its words is under way */
    const uint16_t *last;         /* operators of the node that may be its last in the phase, ended by PM_END */
};
enum pm_end { PM_ENDS_FREELY, PM_ENDS_TIMED };

/* Phases without an operator of the node on a way from a phase to another. */
struct pm_passage {
    int16_t left, entered; /* -1: the beginning, the end of the program */
    uint16_t count;
    const uint16_t *phases;
};

/* Everything about a node. */
struct pm_node {
    uint16_t number;
    const struct pm_phase *const *phases; /* PM_PHASES, null where the node has no part */
    const struct pm_operator *operators;
    const struct pm_entry *entries;       /* PM_ENTRIES */
    uint16_t operators_count;
    uint16_t passages_count;
    const struct pm_passage *passages;
    const pm_word *loader;                /* commands that make the loader phase a block of a period, then SET_POINTER */
    uint16_t loader_words;
};

/* Function that combines `words` words of an earlier message `a` and a later one `b` into `out`, which may be either. */
typedef void (*pm_combine)(const pm_word *a, const pm_word *b, pm_word *out, uint32_t words);

/* Why a program cannot go on. */
enum pm_error {
    PM_E_SUBSET = 1, /* the node is not in the operator's subset */
    PM_E_LOAD,       /* the load function has not been called, or the phase has changed since */
    PM_E_PART,       /* the node's part in the operator does not allow this function */
    PM_E_VALUE,      /* no legal run-time value, or nodes give different ones */
    PM_E_ORDER,      /* operators are used in another order than the program's */
    PM_E_UNUSED,     /* an operator was loaded and not used before its phase ends */
    PM_E_LOCAL,      /* the node reads what it has not written to itself, or PM_LOCAL messages wait */
    PM_E_INIT        /* cop_init has not been called for this `cop`, if it began as zeros */
};

/* Called once a program cannot go on; must not return. The program brings it. `label`: of the operator; "" with PM_E_INIT, where
 * cop->node is null, and else cop->node->number the node. */
struct pm;
void pm_panic(struct pm *cop, enum pm_error error, const char *label);

/* What cycles are spent on (Metcalf 1997, Table 8.1), with PM_STATISTICS. */
enum pm_category { PM_CPU, PM_WRITES, PM_READS, PM_PSYNC, PM_ROUTER, PM_REPROG, PM_CATEGORIES };

/* An operator's state. */
struct pm_use {
    const struct pm_role *role; /* null: not loaded */
    int32_t value;              /* index of the values loaded last; -1: none */
    uint32_t writes, reads, funcs;
    uint32_t gates;
    uint8_t staged;             /* through with its messages: must be loaded again */
    uint8_t due;                /* 0, 1: loaded in this phase, 2: and used */
    uint8_t used;               /* in this round of the phase */
    uint8_t own_first, own_count;
};

/* State of a node. Begin with `pm_init`; no field is for the application but `cycles`. */
struct pm {
    const struct pm_node *node;
    void *port;
    int16_t current;                               /* phase that runs */
    uint8_t unused, second;                        /* as in docs/cop_in_c.md */
    uint8_t deadline_set;
    uint32_t deadline;                             /* from here on no word of used operators is left in the router */
    uint32_t posted;                               /* pipelines whose command register may hold a command */
    uint32_t changes;                              /* changes of phase so far */
    uint32_t loads;                                /* phases loaded so far */
    uint8_t quiet_set[PM_PHASES];
    uint32_t quiet[PM_PHASES];                     /* cycle before which a phase must not be entered */
    int16_t resident[PM_BLOCKS];                   /* phase whose schedule is in a block, or -1 */
    int16_t owner[PM_PIPELINES * PM_VFSMS];        /* phase that wrote the annotation of a VFSM last, or -1 */
    uint8_t behind[PM_PLACES];                     /* the router's annotation is not the one wanted */
    pm_word wanted[PM_PLACES * PM_COMMAND_WORDS];  /* commands that write the annotations wanted */
    struct pm_use uses[PM_OPERATORS];
    int16_t chosen[PM_ENTRIES];                    /* operator that the last load function chose, or -1 */
    uint8_t noted[PM_ENTRIES];                     /* a value is noted for a choice */
    int32_t given[PM_ENTRIES][PM_OPERANDS];        /* that value */
    pm_combine combines[PM_ENTRIES];               /* functions that load was given */
    pm_word local[PM_LOCAL_WORDS] PM_ALIGNED;      /* messages to oneself */
    pm_word temporary[PM_TEMPORARY_WORDS] PM_ALIGNED; /* intermediate messages */
#ifdef PM_STATISTICS
    uint32_t cycles[PM_CATEGORIES];
    uint32_t since;
    uint8_t category;
#endif
};

/* cop_init: before anything else, on all nodes, and once after a reset of the routers. `port` as in pm_port.h. */
void pm_init(struct pm *cop, const struct pm_node *node, void *port);
/* cop_fini: at the end, on all nodes: goes through phases in which other nodes still need this one. */
void pm_fini(struct pm *cop);
/* Get ready for operator `entry`, with `values` for its run-time operands that are nodes or distances. */
void pm_load(struct pm *cop, unsigned entry, const int32_t *values);
/* Before the first load function: load the operator's phase ahead, if no other phase takes its place in the router. May be left out. */
void pm_next_load(struct pm *cop, unsigned entry);
/* Send a message. */
void pm_write(struct pm *cop, unsigned entry, const pm_word *message);
/* Receive a message; 0 if its contents mean nothing at this node. */
int pm_read(struct pm *cop, unsigned entry, pm_word *message);
/* Send and receive, where `in` may be `out`; both null for a barrier. `combine` null: what load was given. 0 if what was received means
 * nothing at this node. */
int pm_func(struct pm *cop, unsigned entry, const pm_word *out, pm_word *in, pm_combine combine);
#ifdef PM_STATISTICS
/* Count the cycles since the last call for the category that was named last, and name the next one. */
void pm_count(struct pm *cop, enum pm_category category);
#endif

#endif
