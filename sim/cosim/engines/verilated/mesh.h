// All blocks in one model: clock, processor ports, and the signals that the build made public. For hardware with parts
// that are no blocks, or with outputs that follow inputs at once; all else is in cells.h, with the same face.
//
// A "node" is one of the blocks of cosim/hardware.py. Everything that depends on the hardware comes from two generated headers: Verilator's, and "build.h" with
//   NODES, WIDTH     numbers
//   WRITE_FULL, READ_FULL  the wrapper's flags: registers that take no word, registers with a word
//   SEATS(S)         pointers to the wrappers of all nodes, in the order of their numbers
//   SIGNALS(X)       X("name", member) for every public signal inside a node, and what the processor read
//   TOP_SIGNALS(X)   the same for what is no node
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "Vmesh.h"
#include "Vmesh__Syms.h"
#include "build.h"
#include "values.h"

using Seat = Vmesh_pointsman_seat;

// Bit i of a signal of any width.
template <class T>
inline bool bit_of(const T& signal, unsigned i) {
    return (signal >> i) & 1;
}
template <std::size_t N>
inline bool bit_of(const VlWide<N>& signal, unsigned i) {
    return (signal[i / 32] >> (i % 32)) & 1;
}

class Mesh {
  public:
    struct Joint {
        unsigned node, input;
        long from;
        unsigned output;
        std::uint64_t value;
    };

    // The joints are in the model already.
    Mesh(unsigned, const std::vector<Joint>&) : context_{new VerilatedContext}, model_{new Vmesh{context_.get()}} {
        Vmesh__Syms* const S = model_->rootp->vlSymsp;
        seats_ = SEATS(S);
        for (unsigned node = 0; node < NODES; ++node) idle(node);
        model_->clk = 0;
        model_->port_clk = 0;
        model_->reset = 1;
        // The first evaluation sees no edges.
        model_->eval();
        tick(true);
        tick(false);
        model_->reset = 0;
        // The register behind `reset` follows without a cycle of the mesh.
        model_->port_clk = !model_->port_clk;
        model_->eval();
        time_ = 0;
    }
    ~Mesh() {
        enter();
        model_->final();
        model_.reset();
        Verilated::threadContextp(nullptr);
    }
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;

    unsigned nodes() const { return NODES; }
    std::int64_t time() const { return time_; }

    // Whether a register takes no word, and whether there is a word in it; the same flag in some hardware.
    bool write_full(unsigned node, unsigned reg) const { return bit_of(seats_[node]->WRITE_FULL, reg); }
    bool read_full(unsigned node, unsigned reg) const { return bit_of(seats_[node]->READ_FULL, reg); }
    PyObject* write_flags(unsigned node) const { return to_python(seats_[node]->WRITE_FULL); }
    PyObject* read_flags(unsigned node) const { return to_python(seats_[node]->READ_FULL); }
    std::uint64_t read_data(unsigned node) const { return seats_[node]->p_read_data; }

    std::uint64_t written(unsigned node) const { return seats_[node]->next_p_write_data; }

    // What a processor does in the next cycle.
    void idle(unsigned node) {
        seats_[node]->next_p_write = 0;
        seats_[node]->next_p_read = 0;
    }
    void write(unsigned node, unsigned reg, std::uint64_t word) {
        Seat& seat = *seats_[node];
        seat.next_p_address = reg;
        seat.next_p_write_data = word & (~std::uint64_t{0} >> (64 - WIDTH));
        seat.next_p_write = 1;
        seat.next_p_read = 0;
    }
    void read(unsigned node, unsigned reg) {
        Seat& seat = *seats_[node];
        seat.next_p_address = reg;
        seat.next_p_write = 0;
        seat.next_p_read = 1;
    }

    // One cycle. Ports that have not changed since the last one need not be looked at again.
    void tick(bool ports_changed) {
        enter();
        if (ports_changed) model_->port_clk = !model_->port_clk;
        model_->clk = 0;
        model_->eval();
        model_->clk = 1;
        model_->eval();
        ++time_;
    }

    bool open_wave(const char*, std::int64_t, std::int64_t) { return false; }

    // Signals by name; null or false with an exception set if there is none.
#define PEEK(known, member) \
    if (!value && !PyErr_Occurred() && !std::strcmp(name, known)) value = to_python(from.member);
#define POKE(known, member)                       \
    if (!found && !std::strcmp(name, known)) {    \
        found = true;                             \
        ok = from_python(into.member, given);     \
    }
#define NAME(known, member) known "\n"
    PyObject* peek(unsigned node, const char* name) const {
        const Seat& from = *seats_[node];
        PyObject* value = nullptr;
        SIGNALS(PEEK)
        if (!value && !PyErr_Occurred()) unknown(name);
        return value;
    }
    bool poke(unsigned node, const char* name, PyObject* given) {
        Seat& into = *seats_[node];
        bool found = false, ok = false;
        SIGNALS(POKE)
        if (!found) unknown(name);
        return ok;
    }
    static const char* names() { return SIGNALS(NAME) ""; }
    PyObject* peek_top(const char* name) const {
        [[maybe_unused]] const auto& from = *model_->rootp;
        PyObject* value = nullptr;
        TOP_SIGNALS(PEEK)
        if (!value && !PyErr_Occurred()) unknown(name);
        return value;
    }
    bool poke_top(const char* name, [[maybe_unused]] PyObject* given) {
        [[maybe_unused]] auto& into = *model_->rootp;
        bool found = false, ok = false;
        TOP_SIGNALS(POKE)
        if (!found) unknown(name);
        return ok;
    }
    static const char* top_names() { return TOP_SIGNALS(NAME) ""; }
#undef PEEK
#undef POKE
#undef NAME

  private:
    static void unknown(const char* name) {
        PyObject* const key = PyUnicode_FromString(name);
        if (key) PyErr_SetObject(PyExc_KeyError, key);
        Py_XDECREF(key);
    }

    // Verilator's library looks for the context in a variable of the thread, which another mesh may have set.
    void enter() { Verilated::threadContextp(context_.get()); }

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vmesh> model_;
    std::vector<Seat*> seats_;
    std::int64_t time_ = 0;
};
