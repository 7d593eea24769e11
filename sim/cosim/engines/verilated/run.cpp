#include "run.h"

namespace {

constexpr long kNodeCyclesPerCheck = 100'000;  // some 10 ms, after which signals are seen
constexpr int kWrite = 1, kRead = 2;           // categories of pointsman.runtime.requests

std::uint64_t load(const Lane& lane) {
    if (!lane.data) return 0;
    if (lane.bytes == 4) return reinterpret_cast<const std::uint32_t*>(lane.data)[lane.moved];
    return reinterpret_cast<const std::uint64_t*>(lane.data)[lane.moved];
}

void store(const Lane& lane, std::uint64_t word) {
    if (!lane.data) return;
    if (lane.bytes == 4)
        reinterpret_cast<std::uint32_t*>(lane.data)[lane.moved] = static_cast<std::uint32_t>(word);
    else
        reinterpret_cast<std::uint64_t*>(lane.data)[lane.moved] = word;
}

}  // namespace

Run::Run(Mesh& mesh, const Vocabulary& names, PyObject* programs, PyObject* results, Counts counts, Options options)
    : mesh_{mesh},
      nodes_{mesh.nodes()},
      reader_{names, REGISTERS, WIDTH},
      results_{results},
      counts_{counts},
      options_{options},
      processors_(mesh.nodes()),
      kinds_(mesh.nodes(), Kind::idle),
      due_(mesh.nodes(), false),
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

Entered Run::enter(unsigned node, PyObject* request) {
    Processor& processor = processors_[node];
    const Vocabulary& names = reader_.names();
    const std::int64_t now = mesh_.time();
    bool until;
    const Kind kind = reader_.kind(request, until);
    std::int64_t value = 0, category = 0;
    Entered result = Entered::waits;
    switch (kind) {
        case Kind::idle:
            return Entered::refused;
        case Kind::transfer:
            result = reader_.transfer(processor, request);
            category = processor.category;
            break;
        case Kind::timer:
            if (!Reader::number(request, until ? names.time : names.cycles, value, 0) ||
                !Reader::number(request, names.category, category, 0))
                return Entered::error;
            if (!until) value += now;
            if (value <= now) return Entered::at_once;
            break;
        case Kind::attend: {
            result = reader_.attend(processor, request, value);
            if (result != Entered::waits) {
                processor.forget();
                break;
            }
            category = processor.category;
            const bool done = !processor.lanes.empty() && (processor.open == 0 || (processor.one_lane && one_complete(processor)));
            if (called(processor, node) || done || (value >= 0 && value <= now)) {
                processor.forget();
                return Entered::at_once;
            }
            break;
        }
        case Kind::empty:
            if (!Reader::number(request, names.reg, value, 0) ||
                !Reader::number(request, names.category, category, 0))
                return Entered::error;
            if (!reader_.has_register(value)) return Entered::refused;
            if (!mesh_.write_full(node, static_cast<unsigned>(value))) return Entered::at_once;
            break;
    }
    if (result != Entered::waits) return result;
    if (category >= static_cast<std::int64_t>(counts_.categories)) return Entered::refused;
    processor.category = static_cast<int>(category);
    processor.since = processor.stalled = now;
    ++processor.number;
    kinds_[node] = kind;
    if (kind == Kind::attend) {
        if (!processor.watches.empty()) ++attended_;
        if (value >= 0) timers_.push({value, node, processor.number});
        if (!processor.lanes.empty()) {
            kinds_[node] = Kind::transfer;
            ++transfers_;
        }
    } else if (kind == Kind::transfer) {
        ++transfers_;
    } else if (kind == Kind::empty) {
        processor.reg = static_cast<unsigned>(value);
        ++empties_;
    } else {
        timers_.push({value, node, processor.number});
    }
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
    if (processor.state) {
        for (std::size_t k = 0; k < processor.lanes.size(); ++k)
            processor.state[k] = static_cast<std::int64_t>(processor.lanes[k].moved);
        called(processor, node);
        if (!processor.watches.empty()) --attended_;
    }
    ++processor.number;
    if (kinds_[node] == Kind::transfer) {
        --transfers_;
    } else {
        counts_.cycles[node * counts_.categories + processor.category] += mesh_.time() - processor.since;
        if (kinds_[node] == Kind::empty) --empties_;
    }
    kinds_[node] = Kind::idle;
    processor.release();
    return resume(node);
}

bool Run::complete_all() {
    for (; !timers_.empty() && timers_.top().time <= mesh_.time(); timers_.pop()) {
        if (stale(timers_.top())) continue;
        due_[timers_.top().node] = true;
        any_due_ = true;
    }
    if (!any_due_) return true;
    any_due_ = false;
    quiet_ = mesh_.time();
    for (unsigned node = 0; node < nodes_; ++node) {
        if (!due_[node]) continue;
        due_[node] = false;
        if (!complete(node)) return false;
    }
    return true;
}

// -- cycles -----------------------------------------------------------------------------------------------------

bool Run::one_complete(const Processor& processor) {
    for (const Lane& lane : processor.lanes)
        if (lane.moved == lane.words) return true;
    return false;
}

// Note which registers call for the processor; does any?
bool Run::called(Processor& processor, unsigned node) const {
    bool any = false;
    for (std::size_t k = 0; k < processor.watches.size(); ++k) {
        const Watch watch = processor.watches[k];
        const bool calls = watch.full ? mesh_.read_full(node, watch.reg) : !mesh_.write_full(node, watch.reg);
        if (processor.state) processor.state[processor.lanes.size() + k] = calls;
        any |= calls;
    }
    return any;
}

bool Run::may_move(const Processor& processor, const Lane& lane) const {
    if (lane.after >= 0) {
        const Lane& other = processor.lanes[lane.after];
        if (other.moved < (lane.after_all ? other.words : lane.moved + 1)) return false;
    }
    // A lane may be behind the one it is paired with.
    return lane.pair < 0 || lane.moved < processor.lanes[lane.pair].moved + lane.window;
}

// Make the access of a node, if one of its lanes can. Count the cycle.
bool Run::choose(unsigned node) {
    Processor& processor = processors_[node];
    std::int64_t* const cycles = counts_.cycles + node * counts_.categories;
    const Lane* first_open = nullptr;
    for (unsigned number = 0; number < processor.lanes.size(); ++number) {
        const Lane& lane = processor.lanes[number];
        if (lane.moved == lane.words) continue;
        if (!first_open) first_open = &lane;
        if (!may_move(processor, lane)) continue;
        const unsigned reg = processor.registers[lane.first + lane.turn];
        if (lane.write ? mesh_.write_full(node, reg) : !mesh_.read_full(node, reg)) continue;
        if (lane.write)
            mesh_.write(node, reg, load(lane));
        else
            mesh_.read(node, reg);
        issued_.emplace_back(node, number);
        ++cycles[processor.category >= 0 ? processor.category : lane.write ? kWrite : kRead];
        return true;
    }
    ++cycles[processor.category >= 0 ? processor.category : first_open->write ? kWrite : kRead];
    return false;
}

void Run::cycle() {
    bool changed = !issued_.empty();
    for (const auto& [node, lane] : issued_) mesh_.idle(node);
    issued_.clear();
    if (transfers_)
        for (unsigned node = 0; node < nodes_; ++node)
            if (kinds_[node] == Kind::transfer) changed |= choose(node);
    mesh_.tick(changed);

    const std::int64_t now = mesh_.time();
    for (const auto& [node, number] : issued_) {
        Processor& processor = processors_[node];
        Lane& lane = processor.lanes[number];
        if (!lane.write) store(lane, mesh_.read_data(node));
        if (options_.events)
            events_.push_back({now - 1, static_cast<std::int32_t>(node),
                               static_cast<std::int16_t>(processor.registers[lane.first + lane.turn]), lane.write, 0,
                               lane.write ? mesh_.written(node) : mesh_.read_data(node)});
        ++lane.moved;
        if (++lane.turn == lane.registers) lane.turn = 0;
        ++counts_.accesses[2 * node + !lane.write];
        processor.stalled = quiet_ = now;
        if (--processor.open == 0 || (processor.one_lane && lane.moved == lane.words)) due_[node] = any_due_ = true;
    }
    if (empties_)
        for (unsigned node = 0; node < nodes_; ++node)
            if (kinds_[node] == Kind::empty && !mesh_.write_full(node, processors_[node].reg))
                due_[node] = any_due_ = true;
    if (attended_)
        for (unsigned node = 0; node < nodes_; ++node)
            if (!processors_[node].watches.empty() && !due_[node] && called(processors_[node], node))
                due_[node] = any_due_ = true;
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
        const Processor& processor = processors_[node];
        if (kinds_[node] == Kind::idle) continue;
        const std::size_t count = kinds_[node] == Kind::transfer ? processor.lanes.size() : 0;
        PyObject* const moved = PyTuple_New(static_cast<Py_ssize_t>(count));
        for (std::size_t k = 0; moved && k < count; ++k)
            PyTuple_SET_ITEM(moved, k, PyLong_FromUnsignedLongLong(processor.lanes[k].moved));
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
