/* Driver of a compiled COP program on a node's processor: see pm.h.
 *
 * In the order of the file: time and statistics, commands to the router, changes of phase (Metcalf 1997, §5.2.3), load functions
 * (§2.7.2), I/O functions (§2.7.1).
 */
#include "pm.h"
#include "pm_port.h"

/* Of the rewrites that differ from the annotations wanted: is there any, would the running phase carry them out sooner than a way
 * through the loader phase, and could it carry them out at all? */
enum question { ANY, SOON, ABLE };

static void leave(struct pm *cop, int phase);

/* -- time and statistics ------------------------------------------------------------------------------- */

#ifdef PM_STATISTICS
void pm_count(struct pm *cop, enum pm_category category)
{
    uint32_t now = pm_port_time(cop->port);
    cop->cycles[cop->category] += now - cop->since;
    cop->since = now;
    cop->category = (uint8_t)category;
}
#else
#define pm_count(cop, category) ((void)0)
#endif

static uint32_t now(const struct pm *cop)
{
    return pm_port_time(cop->port);
}

static void wait_cycles(struct pm *cop, uint32_t cycles)
{
    if (cycles)
        pm_port_until(cop->port, now(cop) + cycles);
}

static const struct pm_phase *phase_at(const struct pm *cop, int phase)
{
    return cop->node->phases[phase];
}

static int among(const uint16_t *list, int number)
{
    for (; list && *list != PM_END; list++)
        if (*list == number)
            return 1;
    return 0;
}

/* -- words --------------------------------------------------------------------------------------------- */

static void copy(pm_word *to, const pm_word *from, uint32_t words)
{
    while (words--)
        *to++ = *from++;
}

/* Messages of a call, by PM_OUT, PM_IN and PM_TEMPORARY + k. */
struct messages {
    const pm_word *out;
    pm_word *in;
    pm_word *temporary;
    uint32_t m;
};

static pm_word *message(const struct messages *with, unsigned data)
{
    return data == PM_IN ? with->in : with->temporary + (data - PM_TEMPORARY) * with->m;
}

/* A lane whose words are moving. */
struct moving {
    const uint8_t *registers;
    pm_word *at;         /* its next word; null: contents do not matter */
    uint32_t left;       /* words still to move */
    uint32_t moved;
    unsigned count, turn; /* registers, the next of them */
    int write;
    int bound;           /* other lanes may hold it up */
};

static void access_port(struct pm *cop, struct moving *one)
{
    unsigned r = one->registers[one->turn];
    if (one->write)
        pm_port_put(cop->port, r, one->at ? *one->at : 0);
    else if (one->at)
        *one->at = pm_port_get(cop->port, r);
    else
        (void)pm_port_get(cop->port, r);
    if (one->at)
        one->at++;
    if (++one->turn == one->count)
        one->turn = 0;
    one->moved++;
    one->left--;
}

/* What is left of a lane when no other has words to move: accesses may wait at the port. */
static void move_rest(struct pm *cop, struct moving *one)
{
    if (one->count == 1 && one->at) {
        unsigned r = one->registers[0];
        pm_word *at = one->at, *end = at + one->left;
        if (one->write)
            while (at != end)
                pm_port_put(cop->port, r, *at++);
        else
            while (at != end)
                *at++ = pm_port_get(cop->port, r);
        return;
    }
    while (one->left)
        access_port(cop, one);
}

static int may_move(const struct moving *all, const struct pm_lane *lane, const struct moving *one)
{
    if (lane->after >= 0) {
        const struct moving *before = &all[lane->after];
        if (lane->after_all ? before->left > 0 : before->moved <= one->moved)
            return 0;
    }
    return lane->pair < 0 || one->moved < all[lane->pair].moved + lane->window;
}

/* As `transfer`, of two lanes that pass words on their own, until one of them is complete: what most exchanges are. */
static void move_two(struct pm *cop, struct moving *all, const struct pm_lane *lanes)
{
    void *port = cop->port;
    const uint8_t *const first0 = all[0].registers, *const first1 = all[1].registers;
    const uint8_t *const last0 = first0 + all[0].count - 1, *const last1 = first1 + all[1].count - 1;
    const uint8_t *next0 = first0, *next1 = first1;
    const int write0 = all[0].write, write1 = all[1].write;
    pm_word *at0 = all[0].at, *at1 = all[1].at;
    pm_word *const end0 = at0 + all[0].left, *const end1 = at1 + all[1].left;
    /* Words by which lane 0 may still get ahead of lane 1, and lane 1 of lane 0. */
    uint32_t ahead0 = lanes[0].pair < 0 ? 0x40000000u : lanes[0].window;
    uint32_t ahead1 = lanes[1].pair < 0 ? 0x40000000u : lanes[1].window;

    while (at0 != end0 && at1 != end1) {
        if (ahead0 && pm_port_full(port, *next0) != write0) {
            if (write0)
                pm_port_put(port, *next0, *at0++);
            else
                *at0++ = pm_port_get(port, *next0);
            next0 = next0 == last0 ? first0 : next0 + 1;
            ahead0--;
            ahead1++;
        } else if (ahead1 && pm_port_full(port, *next1) != write1) {
            if (write1)
                pm_port_put(port, *next1, *at1++);
            else
                *at1++ = pm_port_get(port, *next1);
            next1 = next1 == last1 ? first1 : next1 + 1;
            ahead1--;
            ahead0++;
        }
    }
    all[0].left = (uint32_t)(end0 - at0);
    all[1].left = (uint32_t)(end1 - at1);
    all[0].at = at0;
    all[1].at = at1;
    all[0].turn = (unsigned)(next0 - first0);
    all[1].turn = (unsigned)(next1 - first1);
}

static int are_plain(const struct moving *all, const struct pm_lane *lanes)
{
    unsigned i;
    for (i = 0; i < 2; i++)
        if (lanes[i].after >= 0 || !all[i].at || !all[i].left)
            return 0;
    return 1;
}

/* Move the words of a group, each lane as fast as the port and the other lanes let it. */
static void transfer(struct pm *cop, const struct pm_group *group, const struct messages *with)
{
    struct moving all[PM_LANES];
    unsigned open = 0, i;

    for (i = 0; i < group->count; i++) {
        const struct pm_lane *lane = &group->lanes[i];
        struct moving *one = &all[i];
        one->registers = lane->registers;
        /* Words to send are not written to; a lane that reads never names PM_OUT. */
        one->at = lane->data == PM_TOKEN ? 0 : lane->data == PM_OUT ? (pm_word *)(uintptr_t)with->out : message(with, lane->data);
        one->left = lane->words < 0 ? with->m : (uint32_t)lane->words;
        one->moved = 0;
        one->count = lane->count;
        one->turn = 0;
        one->write = lane->write;
        one->bound = lane->after >= 0 || lane->pair >= 0;
        open += one->left > 0;
    }
    if (group->count == 2 && are_plain(all, group->lanes))
        move_two(cop, all, group->lanes), open = 1;
    while (open > 1) {
        for (i = 0; i < group->count; i++) {
            struct moving *one = &all[i];
            if (!one->left || (one->bound && !may_move(all, &group->lanes[i], one)))
                continue;
            if (pm_port_full(cop->port, one->registers[one->turn]) == one->write)
                continue;
            access_port(cop, one);
            if (!one->left)
                open--;
            break;
        }
    }
    for (i = 0; open && i < group->count; i++)
        if (all[i].left)
            move_rest(cop, &all[i]);
}

static void meet(struct pm *cop, const struct pm_group *group)
{
    pm_word zero = 0, arrived[1 + PM_TEMPORARIES];
    struct messages with;
    unsigned i;
    for (i = 0; i < 1 + PM_TEMPORARIES; i++)
        arrived[i] = 0;
    with.out = &zero;
    with.in = arrived;
    with.temporary = arrived + 1;
    with.m = 1;
    transfer(cop, group, &with);
}

/* Pass the operator's own barrier. */
static void meet_own(struct pm *cop, const struct pm_role *role)
{
    unsigned i;
    pm_count(cop, PM_PSYNC);
    for (i = 0; i < role->groups_count; i++)
        if (role->groups[i].turn == PM_SYNC)
            meet(cop, &role->groups[i]);
}

/* -- commands ------------------------------------------------------------------------------------------ */

static void send(struct pm *cop, unsigned pipeline, const pm_word *words, unsigned count)
{
    while (count--)
        pm_port_put(cop->port, pipeline, *words++);
}

static void add_pointer(struct pm *cop, int32_t blocks)
{
    uint32_t distance = (uint32_t)(blocks * (int32_t)PM_PERIOD) & (PM_DEPTH - 1u);
    unsigned i;
    pm_port_put(cop->port, 0, PM_ADD_POINTER | distance << PM_KIND_BITS);
    for (i = 1; i < PM_COMMAND_WORDS; i++)
        pm_port_put(cop->port, 0, 0);
}

static int block_of(const struct pm *cop, int phase)
{
    return phase < 0 ? 0 : phase_at(cop, phase)->block;
}

static void jump(struct pm *cop, int phase)
{
    int distance = block_of(cop, phase) - block_of(cop, cop->current);
    pm_count(cop, PM_PSYNC);
    if (phase >= 0) {
        unsigned i;
        for (i = 0; i < PM_OPERATORS; i++)
            cop->uses[i].due = cop->uses[i].used = 0;
        cop->changes++;
    }
    cop->current = (int16_t)phase;
    add_pointer(cop, distance);
    pm_port_drain(cop->port, 0);
    wait_cycles(cop, PM_POINTER_DRAIN);
}

static pm_word *wanted(struct pm *cop, const struct pm_phase *phase, unsigned place)
{
    return &cop->wanted[(phase->first + place) * PM_COMMAND_WORDS];
}

static int same_command(const pm_word *a, const pm_word *b)
{
    unsigned i;
    for (i = 0; i < PM_COMMAND_WORDS; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

static int missing(struct pm *cop, int number, unsigned place)
{
    const struct pm_phase *phase = phase_at(cop, number);
    const struct pm_place *at = &phase->places[place];
    int owner = cop->owner[at->pipeline * PM_VFSMS + at->vfsm];
    return cop->behind[phase->first + place] || (at->contested ? owner != number : owner < 0);
}

/* Are the schedule and all annotations of a phase in the router's memories? */
static int holds(struct pm *cop, int number)
{
    const struct pm_phase *phase = phase_at(cop, number);
    unsigned i;
    if (cop->resident[phase->block] != number)
        return 0;
    for (i = 0; i < phase->places_count; i++)
        if (missing(cop, number, i))
            return 0;
    return 1;
}

/* In the loader phase: write what is missing of a phase into the router's memories. */
static void load(struct pm *cop, int number)
{
    const struct pm_phase *phase = phase_at(cop, number);
    unsigned i, p;
    pm_count(cop, PM_ROUTER);
    for (i = 0; i < phase->places_count; i++) {
        const struct pm_place *at = &phase->places[i];
        if (!missing(cop, number, i))
            continue;
        send(cop, at->pipeline, wanted(cop, phase, i), PM_COMMAND_WORDS);
        cop->owner[at->pipeline * PM_VFSMS + at->vfsm] = (int16_t)number;
        cop->behind[phase->first + i] = 0;
    }
    if (cop->resident[phase->block] != number) {
        send(cop, 0, phase->entries, phase->entries_count * PM_COMMAND_WORDS);
        cop->resident[phase->block] = (int16_t)number;
    }
    cop->loads++;
    for (p = 0; p < PM_PIPELINES; p++)
        pm_port_drain(cop->port, p);
    wait_cycles(cop, PM_ANNOTATION_DRAIN);
}

/* Something about the rewrites of `role` that differ from what is wanted in its phase. */
static int rewrites(struct pm *cop, int number, const struct pm_role *role, enum question question)
{
    const struct pm_phase *phase = phase_at(cop, number);
    uint32_t words[PM_PIPELINES];
    unsigned i, p;
    for (p = 0; p < PM_PIPELINES; p++)
        words[p] = 0;
    for (i = 0; i < role->rewrites_count; i++) {
        const struct pm_rewrite *one = &role->rewrites[i];
        if (same_command(one->command, wanted(cop, phase, one->place)))
            continue;
        if (question == ANY)
            return 1;
        words[phase->places[one->place].pipeline] += PM_COMMAND_WORDS;
    }
    if (question == ANY)
        return 0;
    if (cop->current < 0)
        return 1;
    for (p = 0; p < PM_PIPELINES; p++) {
        uint32_t slots = phase_at(cop, cop->current)->slots[p];
        if (words[p] && (!slots || (question == SOON && words[p] * PM_PERIOD >= (PM_DETOUR + 2 * words[p]) * slots)))
            return 0;
    }
    return 1;
}

/* Note the annotations that `role` wants, and send the commands for them if `sending`. Gives the pipelines with commands. */
static uint32_t rewrite_places(struct pm *cop, int number, const struct pm_role *role, int sending)
{
    const struct pm_phase *phase = phase_at(cop, number);
    uint32_t pipelines = 0;
    unsigned i, k;
    for (i = 0; i < role->rewrites_count; i++) {
        const struct pm_rewrite *one = &role->rewrites[i];
        pm_word *stands = wanted(cop, phase, one->place);
        if (same_command(one->command, stands))
            continue;
        for (k = 0; k < PM_COMMAND_WORDS; k++)
            stands[k] = one->command[k];
        if (sending) {
            unsigned pipeline = phase->places[one->place].pipeline;
            send(cop, pipeline, one->command, PM_COMMAND_WORDS);
            pipelines |= 1u << pipeline;
        } else {
            cop->behind[phase->first + one->place] = 1;
        }
    }
    return pipelines;
}

static void drain(struct pm *cop, uint32_t pipelines)
{
    unsigned p;
    for (p = 0; p < PM_PIPELINES; p++)
        if (pipelines >> p & 1)
            pm_port_drain(cop->port, p);
}

/* Change annotations of a loaded phase; `running`: it runs at present, or none does. */
static void rewrite(struct pm *cop, int phase, const struct pm_role *role, int running)
{
    uint32_t pipelines;
    pm_count(cop, PM_REPROG);
    pipelines = rewrite_places(cop, phase, role, 1);
    drain(cop, pipelines);
    if (running && pipelines)
        wait_cycles(cop, PM_ANNOTATION_DRAIN);
}

/* Wait until commands that were only posted are carried out. */
static void settled(struct pm *cop)
{
    drain(cop, cop->posted);
    cop->posted = 0;
}

/* Go to the second schedule of the phase that runs, or back. */
static void switch_schedule(struct pm *cop, int second)
{
    const struct pm_phase *phase = phase_at(cop, cop->current);
    int distance = (int)phase->second - (int)phase->block;
    if (cop->second == second || !phase->second)
        return;
    cop->second = (uint8_t)second;
    cop->posted |= 1;
    add_pointer(cop, second ? distance : -distance);
}

/* -- changes of phase ---------------------------------------------------------------------------------- */

static void await_quiet(struct pm *cop, int phase)
{
    if (cop->quiet_set[phase]) {
        pm_port_until(cop->port, cop->quiet[phase]);
        cop->quiet_set[phase] = 0;
    }
}

static const struct pm_settle *settling(const struct pm *cop, int left, int later)
{
    const struct pm_phase *phase = phase_at(cop, left);
    unsigned i;
    for (i = 0; i < phase->settles_count; i++)
        if (phase->settles[i].phase == later)
            return &phase->settles[i];
    return 0;
}

static void settle(struct pm *cop, int left)
{
    const struct pm_phase *phase = phase_at(cop, left);
    uint32_t time = now(cop);
    unsigned i;
    for (i = 0; i < phase->settles_count; i++) {
        int later = phase->settles[i].phase;
        uint32_t until = time + phase->settles[i].cycles * PM_PACE + PM_SLACK;
        if (!cop->quiet_set[later] || (int32_t)(until - cop->quiet[later]) > 0)
            cop->quiet[later] = until;
        cop->quiet_set[later] = 1;
    }
}

/* Close the running phase and start another, with the annotations that `role` wants (null: as they are). */
static void change(struct pm *cop, int phase, const struct pm_role *role)
{
    int left = cop->current, settles = left >= 0;
    int wants = role && left != phase && rewrites(cop, phase, role, ANY);
    if (left == phase)
        return;
    pm_count(cop, PM_PSYNC);
    await_quiet(cop, phase);
    if (wants && !holds(cop, phase)) {
        rewrite_places(cop, phase, role, 0);
        wants = 0;
    } else if (wants && rewrites(cop, phase, role, SOON)) {
        rewrite(cop, phase, role, 0);
        wants = 0;
    }
    if (left >= 0)
        leave(cop, left);
    if (wants || !holds(cop, phase)) {
        if (left >= 0) {
            jump(cop, PM_LOADER);
            settle(cop, left);
            settles = 0;
        }
        if (wants)
            rewrite(cop, phase, role, 1);
        else
            load(cop, phase);
    }
    jump(cop, phase);
    if (settles)
        settle(cop, left);
    if (left >= 0 && settling(cop, left, phase))
        await_quiet(cop, phase);
}

/* Go on to `phase`, through phases on the way without an operator of this node. Has the phase before been left? */
static int enter(struct pm *cop, int phase, const struct pm_role *role)
{
    const struct pm_passage *way = 0;
    int before = cop->current;
    unsigned i;
    int unused = cop->unused;
    cop->unused = 0;
    if (unused && phase == before)
        return 0; /* entered for an operator that continues: this is its first use proper */
    for (i = 0; i < cop->node->passages_count; i++)
        if (cop->node->passages[i].left == before && cop->node->passages[i].entered == phase)
            way = &cop->node->passages[i];
    for (i = 0; way && i < way->count; i++)
        change(cop, way->phases[i], 0);
    if (phase >= 0 && phase != cop->current) {
        change(cop, phase, role);
        return 1;
    }
    if (!way || cop->current < 0)
        return 0;
    pm_count(cop, PM_PSYNC);
    leave(cop, cop->current);
    if (phase == before && phase >= 0) {
        const struct pm_settle *again = settling(cop, phase, phase);
        if (again)
            wait_cycles(cop, again->cycles * PM_PACE + PM_SLACK);
    }
    return 1;
}

static void refuse_unused(struct pm *cop, const struct pm_phase *phase)
{
    unsigned i, pass;
    for (pass = 0; pass < 2; pass++) { /* the operators that may be last; where none of these is due, all */
        const char *label = 0;
        for (i = 0; i < cop->node->operators_count; i++) {
            if (!cop->uses[i].due || (!pass && !among(phase->last, (int)i)))
                continue;
            if (cop->uses[i].due == 2)
                return;
            label = cop->node->operators[i].label;
        }
        if (label)
            pm_panic(cop, PM_E_UNUSED, label);
    }
}

/* Wait until no word of a phase is left in the router, as its end says. */
static void leave(struct pm *cop, int number)
{
    const struct pm_phase *phase = phase_at(cop, number);
    unsigned i;
    pm_count(cop, PM_PSYNC);
    settled(cop);
    if (phase->meets) {
        for (i = 0; i < phase->meets; i++)
            meet(cop, &phase->barrier[i]);
        wait_cycles(cop, phase->barrier_delay);
    } else if (phase->ends == PM_ENDS_TIMED) {
        refuse_unused(cop, phase);
        if (cop->deadline_set)
            pm_port_until(cop->port, cop->deadline);
        cop->deadline_set = 0;
    }
}

/* -- load functions ------------------------------------------------------------------------------------ */

static const struct pm_role *role_at(const struct pm_operator *op, int value, int stage)
{
    return &op->roles[op->role_of[value * op->stages + stage]];
}

static void await_deadline(struct pm *cop)
{
    if (cop->deadline_set)
        pm_port_until(cop->port, cop->deadline);
}

/* Enter the operator's phase and set its annotations, without waiting for other nodes. */
static void load_alone(struct pm *cop, const struct pm_operator *op, const struct pm_role *role)
{
    int phase = op->phase;
    if (cop->current == phase) {
        if (rewrites(cop, phase, role, ANY)) {
            pm_count(cop, PM_PSYNC);
            await_deadline(cop);
            rewrite(cop, phase, role, 1);
        }
    } else if (!holds(cop, phase)) {
        rewrite_places(cop, phase, role, 0);
        enter(cop, phase, 0);
    } else if (rewrites(cop, phase, role, ABLE)) {
        rewrite(cop, phase, role, 0);
        enter(cop, phase, 0);
    } else {
        enter(cop, phase, 0);
        rewrite(cop, phase, role, 1);
    }
}

/* Rewrite after all nodes of the operator have come here and before any goes on; all know the value. */
static void load_together(struct pm *cop, const struct pm_operator *op, const struct pm_role *role, int same, int entering)
{
    if (entering && role->meets) {
        load_alone(cop, op, role);
        if (op->flags & PM_SHARED) {
            if (same)
                return;
            meet_own(cop, role);
        }
    } else if (entering && cop->current != op->phase) {
        enter(cop, op->phase, role);
        return;
    } else if (same) {
        return;
    } else {
        if (role->meets)
            meet_own(cop, role);
        else if (op->nodes > 1)
            pm_panic(cop, PM_E_ORDER, op->label);
        wait_cycles(cop, role->delay);
        rewrite(cop, op->phase, role, 1);
    }
    if (role->meets)
        meet_own(cop, role);
}

static int value_of(const struct pm_operator *op, const int32_t *given)
{
    int value;
    unsigned k;
    for (value = 0; value < op->values_count; value++) {
        for (k = 0; k < op->operands; k++)
            if (op->values[(unsigned)value * op->operands + k] != given[k])
                break;
        if (k == op->operands)
            return value;
    }
    return -1;
}

static int known(struct pm *cop, const struct pm_operator *op, int value)
{
    if (value < 0)
        pm_panic(cop, PM_E_VALUE, op->label);
    return value;
}

/* Of a value that not every node knows, a node gives itself, nothing, or a legal number. */
static void check_partial(struct pm *cop, const struct pm_operator *op, const int32_t *given)
{
    if (*given != PM_HERE && *given != PM_UNKNOWN)
        (void)known(cop, op, value_of(op, given));
}

/* Tell each other, in the operator's barrier, the value that one of its nodes knows; `own` is UNKNOWN at the others. */
static int told(struct pm *cop, const struct pm_operator *op, int32_t own)
{
    const struct pm_role *role = &op->roles[0];
    pm_word said = own == PM_UNKNOWN ? 0 : (pm_word)own + 1;
    int32_t value;
    unsigned i, k;
    pm_count(cop, PM_PSYNC);
    for (i = 0; i < role->groups_count; i++) {
        if (role->groups[i].turn != PM_SYNC)
            continue;
        for (k = 0; k < role->groups[i].count; k++) {
            unsigned r = role->groups[i].lanes[k].registers[0];
            if (role->groups[i].lanes[k].write) {
                pm_port_put(cop->port, r, said);
            } else {
                pm_word heard = pm_port_get(cop->port, r);
                said = heard > said ? heard : said;
            }
        }
    }
    value = (int32_t)said - 1;
    if (own != PM_UNKNOWN && own != value)
        value = -1;
    return known(cop, op, value < 0 ? -1 : value_of(op, &value));
}

static int load_told(struct pm *cop, const struct pm_operator *op, const struct pm_use *use, int32_t own)
{
    int entering = cop->current != op->phase || enter(cop, op->phase, 0), value;
    if (entering && cop->current != op->phase)
        enter(cop, op->phase, 0);
    value = told(cop, op, own);
    if (use->role && value == use->value)
        return value;
    if (!entering)
        wait_cycles(cop, role_at(op, value, 0)->delay);
    rewrite(cop, op->phase, role_at(op, value, 0), 1);
    meet_own(cop, role_at(op, value, 0));
    return value;
}

/* Load a value that only the writing node may know: it sends commands to the routers of the others. */
static int load_remote(struct pm *cop, const struct pm_operator *op, const struct pm_use *use, int32_t given)
{
    int32_t own = op->position, number = given == PM_HERE ? own : given;
    const struct pm_role *role;
    int sends = 0, value, entering;
    unsigned i;
    for (value = 0; value < op->values_count; value++)
        sends |= role_at(op, value, 0)->remotes_count > 0;
    if (sends)
        value = known(cop, op, value_of(op, &number));
    else
        value = value_of(op, &own) < 0 ? 0 : value_of(op, &own);
    role = role_at(op, value, 0);
    entering = cop->current != op->phase || enter(cop, op->phase, 0);
    if (entering) {
        enter(cop, op->phase, 0);
        meet_own(cop, role);
    }
    if (role->remotes_count && (entering || !use->role || value != use->value)) {
        wait_cycles(cop, role->delay * PM_PACE); /* words that routers drop of earlier messages */
        pm_count(cop, PM_REPROG);
        for (i = 0; i < role->remotes_count; i++)
            pm_port_put(cop->port, role->remotes[i].interface, role->remotes[i].word);
        for (i = 0; i < role->remotes_count; i++)
            pm_port_drain(cop->port, role->remotes[i].interface);
        wait_cycles(cop, role->delay);
    }
    return value;
}

/* An operator is used once more: those that come after it have not been used in this round of the phase. */
static void used_again(struct pm *cop, unsigned number)
{
    unsigned i;
    for (i = 0; cop->uses[number].used && i < cop->node->operators_count; i++) {
        const uint16_t *first = cop->node->operators[i].first;
        if (among(first, (int)number))
            cop->uses[i].used = 0;
    }
}

static void load_operator(struct pm *cop, unsigned number, const int32_t *given)
{
    const struct pm_operator *op = &cop->node->operators[number];
    struct pm_use *use = &cop->uses[number];
    const struct pm_role *role;
    int value;

    if (op->flags & (PM_REMOTE | PM_PARTIAL))
        check_partial(cop, op, given);
    if (op->flags & PM_REMOTE) {
        value = load_remote(cop, op, use, given[0]);
    } else if ((op->flags & PM_PARTIAL) && (op->flags & PM_SYNCHRONISED)) {
        value = load_told(cop, op, use, given[0] == PM_HERE ? (int32_t)op->position : given[0]);
    } else {
        int entering, same;
        if (op->flags & PM_PARTIAL) {
            /* Of a value that only the named node knows, the others take any that does not name them. */
            int here = given[0] == PM_HERE || given[0] == (int32_t)op->position;
            for (value = 0; value < op->values_count; value++)
                if ((op->values[value] == (int32_t)op->position) == here)
                    break;
            value = known(cop, op, value < op->values_count ? value : -1);
        } else {
            value = known(cop, op, value_of(op, given));
        }
        role = role_at(op, value, 0);
        if (op->enters >= 0) {
            if (!among(op->phases, cop->current)) {
                enter(cop, op->enters, 0);
                cop->unused = 1;
            }
        } else {
            same = use->role && value == use->value && op->stages == 1;
            entering = cop->current != op->phase || enter(cop, op->phase, 0);
            if (op->flags & PM_SYNCHRONISED)
                load_together(cop, op, role, same, entering);
            else
                load_alone(cop, op, role);
        }
    }
    role = role_at(op, value, 0);
    use->role = role;
    use->value = value;
    use->writes = use->reads = use->funcs = 0;
    use->staged = 0;
    if (op->enters >= 0)
        return;
    if (role->exchanges) {
        if (!use->due && !(op->flags & PM_REMOTE))
            use->due = 1;
        return;
    }
    /* A node without words in the operator has used it as soon as it is loaded. */
    used_again(cop, number);
    use->used = 1;
}

static const struct pm_entry *entry_at(struct pm *cop, unsigned entry)
{
    const struct pm_entry *found;
    if (!cop->node)
        pm_panic(cop, PM_E_INIT, "");
    found = &cop->node->entries[entry];
    if (!found->count)
        pm_panic(cop, PM_E_SUBSET, found->label);
    return found;
}

/* Note a value; with the last one of the group enter the phase of all of them (Metcalf 1997, §5.5.1). */
static void load_chosen(struct pm *cop, unsigned number, const struct pm_entry *entry, const int32_t *values)
{
    const struct pm_operator *ops = cop->node->operators;
    unsigned e, i, k;
    int phase = -1, legal = 0;
    for (i = 0; i < entry->count && !legal; i++)
        legal = value_of(&ops[entry->operators[i]], values) >= 0;
    if (!legal)
        pm_panic(cop, PM_E_VALUE, entry->label);
    for (k = 0; k < ops[entry->operators[0]].operands; k++)
        cop->given[number][k] = values[k];
    cop->noted[number] = 1;
    cop->chosen[number] = -1;
    for (e = 0; e < PM_ENTRIES; e++)
        if (cop->node->entries[e].group == entry->group)
            cop->chosen[e] = -1;
    if (!entry->last)
        return;
    for (i = 0; i < entry->count && phase < 0; i++) {
        phase = ops[entry->operators[i]].phase;
        for (e = 0; e < PM_ENTRIES; e++) {
            const struct pm_entry *other = &cop->node->entries[e];
            int fits = 0;
            if (other->group != entry->group)
                continue;
            if (!cop->noted[e])
                pm_panic(cop, PM_E_ORDER, ops[other->operators[0]].label);
            for (k = 0; k < other->count; k++)
                fits |= ops[other->operators[k]].phase == phase && value_of(&ops[other->operators[k]], cop->given[e]) >= 0;
            if (!fits)
                phase = -1;
        }
    }
    if (phase < 0)
        pm_panic(cop, PM_E_VALUE, ops[entry->operators[0]].label);
    for (e = 0; e < PM_ENTRIES; e++) {
        const struct pm_entry *other = &cop->node->entries[e];
        if (other->group != entry->group)
            continue;
        for (k = 0; k < other->count; k++) {
            if (ops[other->operators[k]].phase != phase)
                continue;
            load_operator(cop, other->operators[k], cop->given[e]);
            cop->chosen[e] = (int16_t)other->operators[k];
        }
        cop->noted[e] = 0;
    }
}

void pm_load(struct pm *cop, unsigned entry, const int32_t *values)
{
    const struct pm_entry *found = entry_at(cop, entry);
    if (found->group) {
        load_chosen(cop, entry, found, values);
    } else {
        load_operator(cop, found->operators[0], values);
        cop->chosen[entry] = (int16_t)found->operators[0];
    }
    pm_count(cop, PM_CPU);
}

void pm_next_load(struct pm *cop, unsigned entry)
{
    const struct pm_entry *found = entry_at(cop, entry);
    unsigned i, k, p;
    for (i = 0; cop->current < 0 && i < found->count; i++) {
        const struct pm_operator *op = &cop->node->operators[found->operators[i]];
        /* An operator that continues may begin in a phase in which this node has no part. */
        int number = op->enters >= 0 ? op->enters : op->phase, alone = !holds(cop, number);
        const struct pm_phase *phase = phase_at(cop, number);
        for (p = 0; p < PM_PHASES; p++)
            if ((int)p != number && phase_at(cop, (int)p) && phase_at(cop, (int)p)->block == phase->block)
                alone = 0;
        for (k = 0; k < phase->places_count; k++)
            if (phase->places[k].contested)
                alone = 0;
        if (alone)
            load(cop, number);
    }
    pm_count(cop, PM_CPU);
}

/* -- I/O functions ------------------------------------------------------------------------------------- */

/* The operator whose function is called, if it may be. */
static unsigned ready(struct pm *cop, unsigned entry, enum pm_part part)
{
    const char *label = entry_at(cop, entry)->label;
    int number = cop->chosen[entry];
    const struct pm_operator *op;
    struct pm_use *use;
    if (number < 0)
        pm_panic(cop, PM_E_LOAD, label);
    op = &cop->node->operators[number];
    use = &cop->uses[number];
    if (!(op->phases ? among(op->phases, cop->current) : cop->current == op->phase) || use->staged)
        pm_panic(cop, PM_E_LOAD, op->label);
    if (use->role->part != part && !(use->role->part == PM_BOTH && (part == PM_WRITE || part == PM_READ)))
        pm_panic(cop, PM_E_PART, op->label);
    return (unsigned)number;
}

/* Words of the operator are about to be exchanged. */
static void begin(struct pm *cop, unsigned number)
{
    const struct pm_operator *op = &cop->node->operators[number];
    const uint16_t *first;
    used_again(cop, number);
    if (cop->uses[number].due)
        cop->uses[number].due = 2;
    for (first = op->first; first && *first != PM_END; first++)
        if (!cop->uses[*first].used)
            pm_panic(cop, PM_E_ORDER, op->label);
}

static void combine_step(const struct pm_role *role, unsigned step, const struct messages *with, pm_combine combine)
{
    unsigned i;
    uint32_t k;
    for (i = 0; i < role->combinations_count; i++) {
        const struct pm_combination *one = &role->combinations[i];
        const pm_word *left = one->left == PM_OUT ? with->out : message(with, one->left);
        pm_word *result = message(with, one->result);
        if (one->step != step)
            continue;
        if (one->right == PM_NOTHING)
            for (k = 0; k < with->m; k++)
                result[k] = left[k];
        else
            combine(left, one->right == PM_OUT ? with->out : message(with, one->right), result, with->m);
    }
}

/* After its own last message the node rewrites its annotations for the last stage, in which its router serves other nodes. */
static void go_on(struct pm *cop, unsigned number, unsigned turn)
{
    const struct pm_operator *op = &cop->node->operators[number];
    struct pm_use *use = &cop->uses[number];
    const struct pm_role *later = role_at(op, use->value, op->stages - 1);
    unsigned i, k, r;
    use->staged = 1;
    if (!rewrites(cop, op->phase, later, ANY))
        return;
    pm_count(cop, PM_REPROG);
    for (i = 0; i < use->role->groups_count; i++) {
        const struct pm_group *group = &use->role->groups[i];
        for (k = 0; group->turn == (int)turn && k < group->count; k++)
            for (r = 0; group->lanes[k].write && r < group->lanes[k].count; r++)
                pm_port_drain(cop->port, group->lanes[k].registers[r]);
    }
    rewrite(cop, op->phase, later, 1);
}

/* Move the words of a call. `way`: -1 all lanes, 0 and 1 only those that read or write. */
static void move(struct pm *cop, unsigned number, uint32_t call, int way, const pm_word *out, pm_word *in, pm_combine combine)
{
    const struct pm_operator *op = &cop->node->operators[number];
    struct pm_use *use = &cop->uses[number];
    const struct pm_role *role = use->role;
    unsigned turn = (unsigned)(call % role->turns), step, i;
    pm_word *absent = cop->temporary + (uint32_t)role->temporaries * op->m; /* in place of messages that the caller does not have */
    struct messages with;

    begin(cop, number);
    with.m = op->m;
    with.temporary = cop->temporary;
    for (i = 0; i < (role->temporaries + (out ? 0u : 1u)) * op->m; i++)
        cop->temporary[i] = 0;
    if (out && out == in) { /* what arrives would overwrite what is still to be sent */
        copy(absent, out, op->m);
        out = absent;
    }
    with.out = out ? out : absent;
    with.in = in ? in : absent + op->m;
    if (in && role->result && !role->receives)
        for (i = 0; i < op->m; i++)
            in[i] = 0;
    for (step = 0; step < role->steps; step++) {
        if ((int)step == role->second)
            switch_schedule(cop, 1);
        combine_step(role, step, &with, combine);
        for (i = 0; i < role->groups_count; i++) {
            const struct pm_group *group = &role->groups[i];
            if (group->turn == (int)turn && group->step == step && (way < 0 || group->lanes[0].write == way))
                transfer(cop, group, &with);
        }
    }
    if (role->second >= 0)
        switch_schedule(cop, 0);
    if (role->delay && !(op->flags & PM_SYNCHRONISED)) {
        uint32_t until = now(cop) + role->delay * PM_PACE;
        if (!cop->deadline_set || (int32_t)(until - cop->deadline) > 0)
            cop->deadline = until;
        cop->deadline_set = 1;
    }
    if (op->stages > 1 && use->writes + use->reads + use->funcs == role->turns)
        go_on(cop, number, turn);
}

/* Post the commands for a gate, without waiting for their effect. */
static void post(struct pm *cop, const struct pm_operator *op, const struct pm_role *role)
{
    pm_count(cop, PM_REPROG);
    cop->posted |= rewrite_places(cop, op->phase, role, 1);
}

/* Open the next gate in turn, move the words, shut it. */
static void through_gate(struct pm *cop, unsigned number, const pm_word *out, pm_word *in)
{
    const struct pm_operator *op = &cop->node->operators[number];
    struct pm_use *use = &cop->uses[number];
    int stage = 1 + (int)(use->gates++ % (op->stages - 1u));
    const struct pm_role *role = role_at(op, use->value, stage);
    struct messages with;
    unsigned i;
    begin(cop, number);
    with.out = out;
    with.in = in;
    with.temporary = cop->temporary;
    with.m = op->m;
    settled(cop);
    post(cop, op, role);
    pm_count(cop, PM_WRITES);
    for (i = 0; i < role->groups_count; i++)
        if (role->groups[i].turn != PM_SYNC)
            transfer(cop, &role->groups[i], &with);
    post(cop, op, role_at(op, use->value, 0));
}

static pm_word *own_message(struct pm *cop, unsigned number, unsigned k)
{
    const struct pm_operator *op = &cop->node->operators[number];
    return &cop->local[PM_LOCAL * op->local + ((cop->uses[number].own_first + k) % PM_LOCAL) * op->m];
}

static void write_own(struct pm *cop, unsigned number, const pm_word *words)
{
    struct pm_use *use = &cop->uses[number];
    if (use->own_count == PM_LOCAL)
        pm_panic(cop, PM_E_LOCAL, cop->node->operators[number].label);
    copy(own_message(cop, number, use->own_count++), words, cop->node->operators[number].m);
}

static void read_own(struct pm *cop, unsigned number, pm_word *into)
{
    struct pm_use *use = &cop->uses[number];
    if (!use->own_count)
        pm_panic(cop, PM_E_LOCAL, cop->node->operators[number].label);
    copy(into, own_message(cop, number, 0), cop->node->operators[number].m);
    use->own_first = (uint8_t)((use->own_first + 1) % PM_LOCAL);
    use->own_count--;
}

static int has_writes(const struct pm_role *role, unsigned turn)
{
    unsigned i;
    for (i = 0; i < role->groups_count; i++)
        if (role->groups[i].turn == (int)turn && role->groups[i].lanes[0].write)
            return 1;
    return 0;
}

/* The operator is used; a node that writes and reads must have called both. */
static void through(struct pm *cop, unsigned number)
{
    struct pm_use *use = &cop->uses[number];
    if (use->role->part != PM_BOTH || (use->writes && use->reads))
        use->used = 1;
    pm_count(cop, PM_CPU);
}

void pm_write(struct pm *cop, unsigned entry, const pm_word *words)
{
    unsigned number = ready(cop, entry, PM_WRITE);
    struct pm_use *use = &cop->uses[number];
    uint32_t call;
    if (use->role->empty)
        return;
    if (use->role->local) {
        write_own(cop, number, words);
        return;
    }
    pm_count(cop, PM_WRITES);
    call = use->writes++;
    if (use->role->part == PM_BOTH && !has_writes(use->role, call % use->role->turns))
        write_own(cop, number, words);
    else
        move(cop, number, call, use->role->part == PM_BOTH ? 1 : -1, words, 0, 0);
    through(cop, number);
}

int pm_read(struct pm *cop, unsigned entry, pm_word *into)
{
    unsigned number = ready(cop, entry, PM_READ);
    struct pm_use *use = &cop->uses[number];
    uint32_t call;
    if (use->role->local) {
        read_own(cop, number, into);
        return 1;
    }
    pm_count(cop, PM_READS);
    call = use->reads++;
    if (use->role->part == PM_BOTH && use->own_count) {
        read_own(cop, number, into);
        through(cop, number);
        return 1;
    }
    move(cop, number, call, use->role->part == PM_BOTH ? 0 : -1, 0, into, 0);
    through(cop, number);
    return use->role->result && !use->role->empty;
}

int pm_func(struct pm *cop, unsigned entry, const pm_word *out, pm_word *in, pm_combine combine)
{
    unsigned number = ready(cop, entry, PM_FUNC);
    const struct pm_operator *op = &cop->node->operators[number];
    struct pm_use *use = &cop->uses[number];
    uint32_t call;
    if (use->role->local) {
        if (in && !use->role->empty)
            copy(in, out, op->m);
        return !use->role->empty;
    }
    pm_count(cop, PM_WRITES);
    call = use->funcs++;
    if (op->flags & PM_GATED)
        through_gate(cop, number, out, in);
    else
        move(cop, number, call, -1, use->role->empty ? 0 : out, in, combine ? combine : cop->combines[entry]);
    through(cop, number);
    return use->role->result && !use->role->empty;
}

/* -- the beginning and the end ------------------------------------------------------------------------- */

static void preloaded(struct pm *cop)
{
    int phase;
    unsigned i;
    for (phase = 0; phase < PM_PHASES; phase++) {
        const struct pm_phase *one = phase_at(cop, phase);
        if (!one)
            continue;
        if (cop->resident[one->block] < 0)
            cop->resident[one->block] = (int16_t)phase;
        for (i = 0; i < one->places_count; i++) {
            int16_t *owner = &cop->owner[one->places[i].pipeline * PM_VFSMS + one->places[i].vfsm];
            if (*owner < 0)
                *owner = (int16_t)phase;
        }
    }
}

/* Make the loader phase a block of a period, in step with all other nodes. */
static void start(struct pm *cop)
{
#ifdef PM_PRELOADED
    preloaded(cop);
#else
    const struct pm_node *node = cop->node;
    uint32_t time;
    (void)preloaded;
    pm_count(cop, PM_ROUTER);
    send(cop, 0, node->loader, node->loader_words - 1u);
    pm_port_drain(cop->port, 0);
    time = now(cop);
    time += (2 * PM_PERIOD - PM_ALIGN % PM_PERIOD - time % PM_PERIOD) % PM_PERIOD;
    pm_port_put_at(cop->port, time, 0, node->loader[node->loader_words - 1]);
    pm_port_drain(cop->port, 0);
    wait_cycles(cop, PM_POINTER_DRAIN);
#endif
}

void pm_init(struct pm *cop, const struct pm_node *node, void *port)
{
    unsigned char *bytes = (unsigned char *)cop;
    unsigned i, k;
    for (i = 0; i < sizeof *cop; i++)
        bytes[i] = 0;
    cop->node = node;
    cop->port = port;
    cop->current = PM_LOADER;
    for (i = 0; i < PM_BLOCKS; i++)
        cop->resident[i] = -1;
    for (i = 0; i < PM_PIPELINES * PM_VFSMS; i++)
        cop->owner[i] = -1;
    for (i = 0; i < PM_ENTRIES; i++)
        cop->chosen[i] = -1;
    for (i = 0; i < PM_PHASES; i++) {
        const struct pm_phase *phase = node->phases[i];
        for (k = 0; phase && k < phase->places_count * (unsigned)PM_COMMAND_WORDS; k++)
            cop->wanted[phase->first * PM_COMMAND_WORDS + k] = phase->annotations[k];
    }
#ifdef PM_STATISTICS
    cop->since = pm_port_time(port);
#endif
    start(cop);
    pm_count(cop, PM_CPU);
}

void pm_fini(struct pm *cop)
{
    unsigned i;
    if (!cop->node)
        pm_panic(cop, PM_E_INIT, "");
    enter(cop, PM_LOADER, 0);
    settled(cop);
    for (i = 0; i < PM_ENTRIES; i++) /* other nodes may have gone: no function is to be called any more */
        cop->chosen[i] = -1;
    pm_count(cop, PM_CPU);
}
