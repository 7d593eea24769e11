// Requests of processors as C++ sees them. What they mean is said in cosim/engines/processors.py.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <vector>

#include "folds.h"

enum class Kind : std::uint8_t { idle, timer, empty, transfer, attend, plain };  // plain: a transfer, see Reading
enum class Entered { waits, at_once, refused, error };

struct Lane {
    std::uint64_t words, moved, window, item;
    char* data;  // null: zeros go out, what comes in is dropped
    std::uint32_t first, registers, turn, first_fold, folds;
    std::int32_t after, pair;  // -1: none
    std::uint8_t bytes;
    bool write, after_all;
    bool beside;  // does not count for the end of the request, but ends it when it is complete
};

// A register that calls for the processor when it is full, or when it is not.
struct Watch {
    std::uint16_t reg;
    bool full;
};

// A transfer of one lane through one register, without conditions: what most programs await, in few bytes.
struct Plain {
    char* data;          // of the next word, or null
    std::uint64_t left;  // words; 0: the request is of another kind
    std::uint16_t reg;
    std::int16_t category;
    std::uint8_t bytes;
    bool write;
};

// A request as it was read from Python. A program that awaits the same object again need not have it read again: reading one
// costs more than resuming the program.
struct Reading {
    PyObject* request = nullptr;
    Kind kind = Kind::idle;
    bool until = false;        // of a timer: the value is a time
    std::int64_t value = 0;    // of a timer: cycles or time; of `empty`: the register
    int category = -1;         // -1: by direction
    std::uint64_t words = 0;
    bool needs = false;  // some lane counts for the end
    std::vector<Lane> lanes;
    std::vector<Fold> folds;
    std::vector<std::uint16_t> registers;
    std::vector<Py_buffer> buffers;

    void forget() {
        for (Py_buffer& buffer : buffers) PyBuffer_Release(&buffer);
        buffers.clear();
        lanes.clear();
        folds.clear();
        registers.clear();
        words = 0;
        needs = false;
        Py_CLEAR(request);
    }
};

// A processor and what it waits for.
struct Processor {
    static constexpr unsigned kKept = 8;

    PyObject* program = nullptr;  // borrowed
    PyObject* request = nullptr;
    unsigned current = 0, oldest = 0;       // of `kept`
    std::int64_t* state = nullptr;          // of a request that is attended: what its lanes have moved, who called
    std::uint64_t number = 0;               // of the request: timers of earlier ones mean nothing
    std::int64_t since = 0, stalled = 0;
    std::uint64_t open = 0;  // words of a transfer that have yet to move before it is complete
    PyObject* known[kKept] = {};  // the requests of `kept`, side by side
    Plain plain[kKept] = {};      // and those that are plain
    std::vector<Watch> watches;
    Reading kept[kKept];

    Reading& reading() { return kept[current]; }
    const Reading& reading() const { return kept[current]; }
    // Whether the request has been read already; it is the current one then.
    bool knows(const PyObject* wanted) {
        for (unsigned k = 0; k < kKept; ++k)
            if (known[k] == wanted) {
                current = k;
                return true;
            }
        return false;
    }
    // Room for another reading, which becomes the current one.
    Reading& renew() {
        current = oldest;
        for (unsigned k = 0; k < kKept; ++k)
            if (!known[k]) current = k;
        if (current == oldest) oldest = (oldest + 1) % kKept;
        drop();
        return reading();
    }
    // Keep the current reading as that of `wanted`.
    void keep(PyObject* wanted) {
        reading().request = Py_NewRef(wanted);
        known[current] = wanted;
    }
    // Forget the current reading.
    void drop() {
        known[current] = nullptr;
        plain[current].left = 0;
        reading().forget();
    }
    // The request is done with. One that is attended keeps its progress itself, so it has to be read again; one that
    // nobody else has cannot come again.
    void release() {
        if (!request) return;
        if (state || (known[current] == request && Py_REFCNT(request) == 2)) {
            watches.clear();
            state = nullptr;
            drop();
        }
        Py_CLEAR(request);
    }
    void forget() {
        watches.clear();
        state = nullptr;
        for (Reading& each : kept) each.forget();
        for (PyObject*& each : known) each = nullptr;
        for (Plain& each : plain) each.left = 0;
    }
};

// The classes and attribute names of pointsman.runtime.api.requests.
struct Vocabulary {
    PyObject *wait = nullptr, *wait_until = nullptr, *wait_empty = nullptr, *transfer = nullptr, *attend = nullptr;
    PyObject *until = nullptr, *full = nullptr, *empty = nullptr, *state = nullptr, *beside = nullptr;
    PyObject *cycles = nullptr, *time = nullptr, *reg = nullptr, *category = nullptr, *lanes = nullptr;
    PyObject *write = nullptr, *registers = nullptr, *words = nullptr, *data = nullptr;
    PyObject *after = nullptr, *after_all = nullptr, *window = nullptr, *pair = nullptr, *throw_ = nullptr;
    PyObject *item = nullptr, *folds = nullptr, *left = nullptr, *right = nullptr, *result = nullptr, *code = nullptr;

    bool fill();
};

class Reader {
  public:
    Reader(const Vocabulary& names, unsigned register_count, unsigned width)
        : names_{names}, register_count_{register_count}, width_{width} {}

    // Read a request as the current one of `processor`, unless it is known. `refused` if this node cannot do it; `error` with
    // an exception set. Of one that is attended, `value` is the time that it waits for (-1: none).
    Entered read(Processor& processor, PyObject* request) const;
    bool has_register(std::int64_t reg) const { return reg >= 0 && reg < register_count_; }
    const Vocabulary& names() const { return names_; }

  private:
    Kind kind(PyObject* request, bool& until) const;
    static bool number(PyObject* object, PyObject* name, std::int64_t& value, std::int64_t none);
    static bool category(Reading& reading, PyObject* request, PyObject* name, std::int64_t none);
    Entered transfer(Reading& reading, PyObject* request) const;
    Entered attend(Processor& processor, PyObject* request) const;
    Entered beside(Reading& reading, PyObject* request) const;
    Entered lane(Reading& reading, PyObject* lane, std::size_t lane_count) const;
    bool fold(Reading& reading, PyObject* fold) const;
    Entered watches(Processor& processor, PyObject* request, PyObject* name, bool full) const;

    const Vocabulary& names_;
    std::int64_t register_count_;
    unsigned width_;
};
