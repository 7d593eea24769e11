// Requests of processors as C++ sees them. What they mean is said in cosim/engines/processors.py.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <vector>

enum class Kind : std::uint8_t { idle, timer, empty, transfer, attend };
enum class Entered { waits, at_once, refused, error };

struct Lane {
    std::uint64_t words, moved, window;
    char* data;  // null: zeros go out, what comes in is dropped
    std::uint32_t first, registers, turn;
    std::int32_t after, pair;  // -1: none
    std::uint8_t bytes;
    bool write, after_all;
};

// A register that calls for the processor when it is full, or when it is not.
struct Watch {
    std::uint16_t reg;
    bool full;
};

// A processor and what it waits for.
struct Processor {
    PyObject* program = nullptr;  // borrowed
    PyObject* request = nullptr;
    std::int64_t since = 0, stalled = 0;
    int category = -1;  // -1: by direction
    unsigned reg = 0;
    std::uint64_t open = 0;  // words of a transfer that have yet to move
    bool one_lane = false;   // complete when one of its lanes is
    std::vector<Lane> lanes;
    std::vector<std::uint16_t> registers;
    std::vector<Py_buffer> buffers;
    std::vector<Watch> watches;
    std::int64_t* state = nullptr;  // of a request that is attended: what its lanes have moved, who called
    std::uint64_t number = 0;       // of the request: timers of earlier ones mean nothing
    // The transfer that `lanes`, `registers` and `buffers` were read from. A program that awaits the same object again
    // need not have it read again.
    PyObject* read = nullptr;
    std::uint64_t words = 0;
    int read_category = -1;

    // The request is done with. One that is attended keeps its progress itself, so it has to be read again.
    void release() {
        if (state) forget();
        Py_CLEAR(request);
    }
    void forget() {
        watches.clear();
        one_lane = false;
        state = nullptr;
        for (Py_buffer& buffer : buffers) PyBuffer_Release(&buffer);
        buffers.clear();
        Py_CLEAR(read);
    }
};

// The classes and attribute names of pointsman.runtime.requests.
struct Vocabulary {
    PyObject *wait = nullptr, *wait_until = nullptr, *wait_empty = nullptr, *transfer = nullptr, *attend = nullptr;
    PyObject *until = nullptr, *full = nullptr, *empty = nullptr, *state = nullptr, *one_lane = nullptr;
    PyObject *cycles = nullptr, *time = nullptr, *reg = nullptr, *category = nullptr, *lanes = nullptr;
    PyObject *write = nullptr, *registers = nullptr, *words = nullptr, *data = nullptr;
    PyObject *after = nullptr, *after_all = nullptr, *window = nullptr, *pair = nullptr, *throw_ = nullptr;

    bool fill();
};

class Reader {
  public:
    Reader(const Vocabulary& names, unsigned register_count, unsigned width)
        : names_{names}, register_count_{register_count}, width_{width} {}

    // Kind of a request; `idle` if it is none.
    Kind kind(PyObject* request, bool& until) const;
    // An attribute that is a number; false with an exception set if it is not.
    static bool number(PyObject* object, PyObject* name, std::int64_t& value, std::int64_t none);
    // Fill in the lanes of `processor`. `refused` if this node cannot do it; `error` with an exception set.
    Entered transfer(Processor& processor, PyObject* request) const;
    // Fill in the registers that call for `processor`, its state, and the time that it waits for (-1: none).
    Entered attend(Processor& processor, PyObject* request, std::int64_t& until) const;
    bool has_register(std::int64_t reg) const { return reg >= 0 && reg < register_count_; }
    const Vocabulary& names() const { return names_; }

  private:
    Entered lane(Processor& processor, PyObject* lane, std::size_t lane_count) const;
    Entered watches(Processor& processor, PyObject* request, PyObject* name, bool full) const;

    const Vocabulary& names_;
    std::int64_t register_count_;
    unsigned width_;
};
