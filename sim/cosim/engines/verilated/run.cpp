#include "run.h"

namespace {

constexpr long kNodeCyclesPerCheck = 100'000;  // some 10 ms, after which signals are seen
constexpr int kWrite = 1, kRead = 2;           // categories of pointsman.runtime.api.requests

std::uint64_t load(const char* place, unsigned bytes) {
    if (!place) return 0;
    if (bytes == 4) return *reinterpret_cast<const std::uint32_t*>(place);
    return *reinterpret_cast<const std::uint64_t*>(place);
}

void store(char* place, unsigned bytes, std::uint64_t word) {
    if (!place) return;
    if (bytes == 4)
        *reinterpret_cast<std::uint32_t*>(place) = static_cast<std::uint32_t>(word);
    else
        *reinterpret_cast<std::uint64_t*>(place) = word;
}

// Of the next word of a lane.
char* place(const Lane& lane) { return lane.data ? lane.data + lane.moved * lane.bytes : nullptr; }

}  // namespace

Run::Run(Mesh& mesh, const Vocabulary& names, PyObject* programs, PyObject* results, Counts counts, Options options)
    : mesh_{mesh},
      nodes_{mesh.nodes()},
      reader_{names, REGISTERS, WIDTH},
      results_{results},
      counts_{counts},
      options_{options},
      processors_(mesh.nodes()),
      moving_(mesh.nodes()),
      kinds_(mesh.nodes(), Kind::idle),
      due_((mesh.nodes() + 63) / 64, 0),
      started_{mesh.time()},
      quiet_{mesh.time()},
      house_every_{kNodeCyclesPerCheck / mesh.nodes() + 1},
      house_in_{house_every_} {
    for (unsigned node = 0; node < nodes_; ++node) {
        PyObject* const program = PyList_GET_ITEM(programs, node);
        if (program == Py_None) continue;
        processors_[node].program = program;
        ++live_;
    }
}

Run::~Run() {
    for (unsigned node = 0; node < nodes_; ++node) {
        if (kinds_[node] == Kind::plain) settle(node);
        mesh_.idle(node);
        processors_[node].release();
        processors_[node].forget();
    }
}

// -- programs ---------------------------------------------------------------------------------------------------

bool Run::resume(unsigned node) {
    PyObject* const program = processors_[node].program;
    PyObject* refusal = nullptr;
    for (;;) {
        PyObject* request = nullptr;
        PySendResult result;
        if (!refusal) {
            result = PyIter_Send(program, Py_None, &request);
        } else {
            request = PyObject_CallMethodOneArg(program, reader_.names().throw_, refusal);
            Py_CLEAR(refusal);
            result = request ? PYGEN_NEXT : PYGEN_ERROR;
            if (!request && PyErr_ExceptionMatches(PyExc_StopIteration)) {
                PyObject *type, *error, *traceback;
                PyErr_Fetch(&type, &error, &traceback);
                PyErr_NormalizeException(&type, &error, &traceback);
                request = PyObject_GetAttrString(error, "value");
                Py_XDECREF(type);
                Py_XDECREF(error);
                Py_XDECREF(traceback);
                result = request ? PYGEN_RETURN : PYGEN_ERROR;
            }
        }
        if (result == PYGEN_RETURN) return finish(node, request);
        if (result == PYGEN_ERROR) {
            PyObject *type, *error, *traceback;
            PyErr_Fetch(&type, &error, &traceback);
            PyErr_NormalizeException(&type, &error, &traceback);
            if (traceback) PyException_SetTraceback(error, traceback);
            PyObject* const noted =
                PyObject_CallMethod(options_.host, "note", "OIL", error, node, (long long)mesh_.time());
            Py_XDECREF(noted);
            if (noted) {
                PyErr_Restore(type, error, traceback);
            } else {
                Py_XDECREF(type);
                Py_XDECREF(error);
                Py_XDECREF(traceback);
            }
            return false;
        }
        switch (enter(node, request)) {
            case Entered::waits:
                processors_[node].request = request;
                return true;
            case Entered::at_once:
                Py_DECREF(request);
                break;
            case Entered::refused:
                refusal = PyObject_CallMethod(options_.host, "refusal", "O", request);
                Py_DECREF(request);
                if (!refusal) return false;
                break;
            case Entered::error:
                Py_DECREF(request);
                return false;
        }
    }
}

// Begins a plain transfer that has been read before: the way of most requests, and a short one.
bool Run::known_plain(unsigned node, PyObject* request) {
    Processor& processor = processors_[node];
    // Events are in the order of nodes, whatever these do.
    if (options_.events || !processor.knows(request)) return false;
    const Plain& plain = processor.plain[processor.current];
    if (!plain.left) return false;
    begin(node, plain);
    return true;
}

Entered Run::enter(unsigned node, PyObject* request) {
    if (known_plain(node, request)) return Entered::waits;
    Processor& processor = processors_[node];
    const Entered result = reader_.read(processor, request);
    if (result != Entered::waits) return result;
    const Reading& reading = processor.reading();
    const std::int64_t now = mesh_.time();
    std::int64_t time = -1;
    bool at_once = false;
    switch (reading.kind) {
        case Kind::idle:
        case Kind::plain:
        case Kind::transfer:
            break;
        case Kind::timer:
            time = reading.until ? reading.value : now + reading.value;
            at_once = time <= now;
            break;
        case Kind::attend: {
            time = reading.value;
            const bool done = (reading.needs && processor.open == 0) || beside_complete(reading);
            at_once = called(processor, node) || done || (time >= 0 && time <= now);
            break;
        }
        case Kind::empty:
            at_once = !mesh_.write_full(node, static_cast<unsigned>(reading.value));
            break;
    }
    const bool refused = reading.category >= static_cast<int>(counts_.categories);
    if (at_once || refused) {
        if (reading.kind == Kind::attend || refused) {
            processor.watches.clear();
            processor.state = nullptr;
            processor.drop();
        }
        return at_once ? Entered::at_once : Entered::refused;
    }
    processor.since = processor.stalled = now;
    ++processor.number;
    kinds_[node] = reading.kind;
    if (time >= 0) timers_.push({time, node, processor.number});
    if (!processor.watches.empty()) ++attended_;
    if (!reading.lanes.empty() && !known_plain(node, request)) {
        kinds_[node] = Kind::transfer;
        ++transfers_;
    }
    if (reading.kind == Kind::empty) ++empties_;
    return Entered::waits;
}

bool Run::finish(unsigned node, PyObject* value) {
    counts_.finished[node] = mesh_.time();
    --live_;
    return PyList_SetItem(results_, node, value) == 0;
}

// The request of a node is complete: count it and go on.
bool Run::complete(unsigned node) {
    Processor& processor = processors_[node];
    if (kinds_[node] == Kind::plain) {
        settle(node);
        --transfers_;
        kinds_[node] = Kind::idle;
        processor.release();
        return resume(node);
    }
    const Reading& reading = processor.reading();
    if (processor.state) {
        for (std::size_t k = 0; k < reading.lanes.size(); ++k)
            processor.state[k] = static_cast<std::int64_t>(reading.lanes[k].moved);
        called(processor, node);
        if (!processor.watches.empty()) --attended_;
    }
    ++processor.number;
    if (kinds_[node] == Kind::transfer) {
        --transfers_;
    } else {
        counts_.cycles[node * counts_.categories + reading.category] += mesh_.time() - processor.since;
        if (kinds_[node] == Kind::empty) --empties_;
    }
    kinds_[node] = Kind::idle;
    processor.release();
    return resume(node);
}

bool Run::complete_all() {
    for (; !timers_.empty() && timers_.top().time <= mesh_.time(); timers_.pop()) {
        if (stale(timers_.top())) continue;
        set_due(timers_.top().node);
    }
    if (!any_due_) return true;
    any_due_ = false;
    quiet_ = mesh_.time();
    for (std::size_t k = 0; k < due_.size(); ++k) {
        while (due_[k]) {
            const unsigned node = static_cast<unsigned>(64 * k) + static_cast<unsigned>(__builtin_ctzll(due_[k]));
            due_[k] &= due_[k] - 1;
            if (!complete(node)) return false;
        }
    }
    return true;
}

// -- cycles -----------------------------------------------------------------------------------------------------

bool Run::beside_complete(const Reading& reading) {
    for (const Lane& lane : reading.lanes)
        if (lane.beside && lane.moved == lane.words) return true;
    return false;
}

// Note which registers call for the processor; does any?
bool Run::called(Processor& processor, unsigned node) const {
    bool any = false;
    for (std::size_t k = 0; k < processor.watches.size(); ++k) {
        const Watch watch = processor.watches[k];
        const bool calls = watch.full ? mesh_.read_full(node, watch.reg) : !mesh_.write_full(node, watch.reg);
        if (processor.state) processor.state[processor.reading().lanes.size() + k] = calls;
        any |= calls;
    }
    return any;
}

bool Run::may_move(const Reading& reading, const Lane& lane) {
    if (lane.after >= 0) {
        const Lane& other = reading.lanes[lane.after];
        if (other.moved < (lane.after_all ? other.words : lane.moved + lane.item - lane.moved % lane.item)) return false;
    }
    // A lane may be behind the one it is paired with.
    return lane.pair < 0 || lane.moved < reading.lanes[lane.pair].moved + lane.window;
}

// Make the access of a node, if one of its lanes can. Count the cycle.
bool Run::choose(unsigned node) {
    const Reading& reading = processors_[node].reading();
    std::int64_t* const cycles = counts_.cycles + node * counts_.categories;
    const Lane *open = nullptr, *first = nullptr;  // not complete, and let move as well
    for (unsigned number = 0; number < reading.lanes.size(); ++number) {
        const Lane& lane = reading.lanes[number];
        if (lane.moved == lane.words) continue;
        if (!open) open = &lane;
        if (!may_move(reading, lane)) continue;
        if (!first) first = &lane;
        const unsigned reg = reading.registers[lane.first + lane.turn];
        if (lane.write ? mesh_.write_full(node, reg) : !mesh_.read_full(node, reg)) continue;
        if (lane.write)
            mesh_.write(node, reg, load(place(lane), lane.bytes));
        else
            mesh_.read(node, reg);
        issued_.emplace_back(node, number);
        ++cycles[reading.category >= 0 ? reading.category : lane.write ? kWrite : kRead];
        return true;
    }
    ++cycles[reading.category >= 0 ? reading.category : (first ? first : open)->write ? kWrite : kRead];
    return false;
}

void Run::begin(unsigned node, const Plain& plain) {
    kinds_[node] = Kind::plain;
    ++transfers_;
    Moving& moving = moving_[node];
    static_cast<Plain&>(moving) = plain;
    moving.since = moving.stalled = mesh_.time();
    const unsigned category = plain.category >= 0 ? plain.category : plain.write ? kWrite : kRead;
    moving.cycles = counts_.cycles + node * counts_.categories + category;
    moving.accesses = counts_.accesses + 2 * node + !plain.write;
}

// Count the cycles of a plain transfer so far.
void Run::settle(unsigned node) {
    Moving& moving = moving_[node];
    *moving.cycles += mesh_.time() - moving.since;
    moving.since = mesh_.time();
}

void Run::cycle() {
    bool changed = !issued_.empty() || !issued_plain_.empty();
    for (const auto& [node, lane] : issued_) mesh_.idle(node);
    for (const unsigned node : issued_plain_) mesh_.idle(node);
    issued_.clear();
    issued_plain_.clear();
    if (transfers_)
        for (unsigned node = 0; node < nodes_; ++node) {
            if (kinds_[node] == Kind::plain) {
                const Moving& moving = moving_[node];
                if (moving.write ? mesh_.write_full(node, moving.reg) : !mesh_.read_full(node, moving.reg)) continue;
                if (moving.write)
                    mesh_.write(node, moving.reg, load(moving.data, moving.bytes));
                else
                    mesh_.read(node, moving.reg);
                issued_plain_.push_back(node);
                changed = true;
            } else if (kinds_[node] == Kind::transfer) {
                changed |= choose(node);
            }
        }
    mesh_.tick(changed);

    const std::int64_t now = mesh_.time();
    if (!issued_plain_.empty()) quiet_ = now;
    for (const unsigned node : issued_plain_) {
        Moving& moving = moving_[node];
        if (!moving.write) store(moving.data, moving.bytes, mesh_.read_data(node));
        if (moving.data) moving.data += moving.bytes;
        ++*moving.accesses;
        moving.stalled = now;
        if (--moving.left == 0) set_due(node);
    }
    for (const auto& [node, number] : issued_) {
        Processor& processor = processors_[node];
        Reading& reading = processor.reading();
        Lane& lane = reading.lanes[number];
        if (!lane.write) store(place(lane), lane.bytes, mesh_.read_data(node));
        if (options_.events)
            events_.push_back({now - 1, static_cast<std::int32_t>(node),
                               static_cast<std::int16_t>(reading.registers[lane.first + lane.turn]), lane.write, 0,
                               lane.write ? mesh_.written(node) : mesh_.read_data(node)});
        ++lane.moved;
        if (++lane.turn == lane.registers) lane.turn = 0;
        if (lane.folds && lane.moved % lane.item == 0)
            for (std::uint32_t k = lane.first_fold; k < lane.first_fold + lane.folds; ++k)
                carry_out(reading.folds[k], lane.moved - lane.item, lane.moved);
        ++counts_.accesses[2 * node + !lane.write];
        processor.stalled = quiet_ = now;
        if (lane.beside ? lane.moved == lane.words : --processor.open == 0) set_due(node);
    }
    if (empties_)
        for (unsigned node = 0; node < nodes_; ++node)
            if (kinds_[node] == Kind::empty && !mesh_.write_full(node, static_cast<unsigned>(processors_[node].reading().value)))
                set_due(node);
    if (attended_)
        for (unsigned node = 0; node < nodes_; ++node)
            if (!processors_[node].watches.empty() && !is_due(node) && called(processors_[node], node))
                set_due(node);
}

bool Run::to_end() {
    for (unsigned node = 0; node < nodes_; ++node)
        if (processors_[node].program && !resume(node)) return false;
    while (live_) {
        const std::int64_t now = mesh_.time();
        if (options_.max_cycles >= 0 && now - started_ >= options_.max_cycles) {
            Py_XDECREF(PyObject_CallMethod(options_.host, "too_long", "I", live_));
            return false;
        }
        while (!timers_.empty() && stale(timers_.top())) timers_.pop();
        if (!timers_.empty()) quiet_ = now;
        if (now - quiet_ >= options_.quiet_cycles) return raise_deadlock();
        if (options_.observer) {
            PyObject* const seen = PyObject_CallNoArgs(options_.observer);
            if (!seen) return false;
            Py_DECREF(seen);
        }
        if (--house_in_ <= 0 && !keep_house()) return false;
        cycle();
        if (!complete_all()) return false;
    }
    return true;
}

// Signals, other threads, progress.
bool Run::keep_house() {
    house_in_ = house_every_;
    Py_BEGIN_ALLOW_THREADS;
    Py_END_ALLOW_THREADS;
    if (PyErr_CheckSignals()) return false;
    PyObject* const told =
        PyObject_CallMethod(options_.host, "progress", "LI", (long long)mesh_.time(), live_);
    Py_XDECREF(told);
    return told;
}

bool Run::raise_deadlock() {
    PyObject* const waits = PyList_New(0);
    bool ok = waits;
    for (unsigned node = 0; ok && node < nodes_; ++node) {
        if (kinds_[node] == Kind::idle) continue;
        Processor& processor = processors_[node];
        if (kinds_[node] == Kind::plain) {
            Lane& lane = processor.reading().lanes[0];
            lane.moved = lane.words - moving_[node].left;
            processor.stalled = moving_[node].stalled;
        }
        const std::size_t count = kinds_[node] == Kind::transfer || kinds_[node] == Kind::plain ? processor.reading().lanes.size() : 0;
        PyObject* const moved = PyTuple_New(static_cast<Py_ssize_t>(count));
        for (std::size_t k = 0; moved && k < count; ++k)
            PyTuple_SET_ITEM(moved, k, PyLong_FromUnsignedLongLong(processor.reading().lanes[k].moved));
        PyObject* const row =
            moved ? Py_BuildValue("IONL", node, processor.request, moved, (long long)processor.stalled) : nullptr;
        ok = row && PyList_Append(waits, row) == 0;
        Py_XDECREF(row);
    }
    if (ok)
        Py_XDECREF(PyObject_CallMethod(options_.host, "deadlock", "LLO", (long long)mesh_.time(),
                                       (long long)(mesh_.time() - quiet_), waits));
    Py_XDECREF(waits);
    return false;
}
