// Blocks of one kind, LANES of them side by side (lanes.py), and what joins them, given at run time.
//
// "build.h" says
//   LANES, REGISTERS, WIDTH   numbers
//   NAME(x)                   member of Lanes for a signal of the wrapper
//   WRITE_FULL, READ_FULL     the wrapper's flags, as NAME(...)
//   SIGNALS(X)                X("name", "member") for every signal that Python may see
//   INPUTS(X), OUTPUTS(X)     X("name", "member") for the wires between blocks; of inputs, the member that C++ sets
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "Vmesh.h"
#include "Vmesh___024root.h"
#include "build.h"
#include "exchange.h"
#include "lanes.h"
#include "values.h"
#include "wave.h"

class Mesh {
  public:
    // One input of a block: `from` and its output, or a constant.
    struct Joint {
        unsigned node, input;
        long from;  // -1: constant
        unsigned output;
        std::uint64_t value;
    };

    Mesh(unsigned nodes, const std::vector<Joint>& joints)
        : nodes_{nodes}, groups_((nodes + LANES - 1) / LANES) {
        VerilatedContext context;
        Vmesh model{&context};
        model.clk = 0;
        model.port_clk = 0;
        model.reset = 1;
        model.eval();
        for (Lanes& group : groups_) lanes_load(group, *model.rootp);
        model.final();
        Verilated::threadContextp(nullptr);
        connect(joints);
        tick(true);
        tick(true);
        for (Lanes& group : groups_) std::fill_n(group.reset, LANES, 0);
        time_ = 0;
        watched_ = kWatched;
    }
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;

    unsigned nodes() const { return nodes_; }
    std::int64_t time() const { return time_; }

    bool write_full(unsigned node, unsigned reg) const { return flag(&group(node).WRITE_FULL[0], node, reg); }
    bool read_full(unsigned node, unsigned reg) const { return flag(&group(node).READ_FULL[0], node, reg); }
    PyObject* write_flags(unsigned node) const { return value(*find(WRITE_FULL_NAME), node); }
    PyObject* read_flags(unsigned node) const { return value(*find(READ_FULL_NAME), node); }
    std::uint64_t read_data(unsigned node) const { return group(node).NAME(p_read_data)[node % LANES]; }
    std::uint64_t written(unsigned node) const { return group(node).NAME(next_p_write_data)[node % LANES]; }

    // What a processor does in the next cycle.
    void idle(unsigned node) {
        group(node).NAME(next_p_write)[node % LANES] = 0;
        group(node).NAME(next_p_read)[node % LANES] = 0;
    }
    void write(unsigned node, unsigned reg, std::uint64_t word) {
        Lanes& S = group(node);
        const unsigned l = node % LANES;
        S.NAME(next_p_address)[l] = reg;
        S.NAME(next_p_write_data)[l] = word & (~std::uint64_t{0} >> (64 - WIDTH));
        S.NAME(next_p_write)[l] = 1;
        S.NAME(next_p_read)[l] = 0;
    }
    void read(unsigned node, unsigned reg) {
        Lanes& S = group(node);
        const unsigned l = node % LANES;
        S.NAME(next_p_address)[l] = reg;
        S.NAME(next_p_write)[l] = 0;
        S.NAME(next_p_read)[l] = 1;
    }

    // One cycle: inputs to all blocks, the clock's edge, outputs to the inputs of the next cycle.
    void tick(bool) {
        if (watched_ > 0) {
            --watched_;
            const std::vector<Lanes> before{groups_};
            for (Lanes& group : groups_) lanes_link(group);
            check();
            std::copy(before.begin(), before.end(), groups_.begin());
        }
        for (Lanes& group : groups_) lanes_cycle(group);
        exchange_.pass();
        ++time_;
#ifdef WAVE
        if (wave_) wave_->sample(*this, time_);
#endif
    }

    // Writes all signals of the cycles `from` to `to` from now on; false if the file cannot be opened.
    bool open_wave([[maybe_unused]] const char* path, [[maybe_unused]] std::int64_t from,
                   [[maybe_unused]] std::int64_t to) {
#ifdef WAVE
        wave_ = std::make_unique<Wave>(path, from, to, nodes_);
        if (wave_->is_open()) {
            wave_->sample(*this, time_);
            return true;
        }
        wave_.reset();
#endif
        return false;
    }

    // A signal by its name in SIGNALS; null with an exception set if there is none.
    PyObject* peek(unsigned node, const char* name) const {
        const Field* const field = signal(name);
        return field ? value(*field, node) : nullptr;
    }
    bool poke(unsigned node, const char* name, PyObject* given) {
        const Field* const field = signal(name);
        if (!field) return false;
        if (!field->rows) return set(*field, node, 0, given);
        if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != static_cast<Py_ssize_t>(field->rows)) {
            PyErr_Format(PyExc_ValueError, "a memory needs a tuple of %u words", field->rows);
            return false;
        }
        for (unsigned row = 0; row < field->rows; ++row)
            if (!set(*field, node, row, PyTuple_GET_ITEM(given, row))) return false;
        return true;
    }
    static const char* names() {
#define SIGNAL_NAME(name, member) name "\n"
        return SIGNALS(SIGNAL_NAME) "";
    }
    PyObject* peek_top(const char* name) const { return unknown(name), nullptr; }
    bool poke_top(const char* name, PyObject*) { return unknown(name), false; }
    static const char* top_names() { return ""; }

    // Copies a block into Verilator's own object, which can write waveforms.
    template <class Root>
    void store(unsigned node, Root& root) const {
        lanes_store(group(node), node % LANES, root);
    }

  private:
    static constexpr int kWatched = 500;  // cycles in which the promise of registered outputs is checked

    struct Wire {
        const char* name;
        const char* member;
    };

    Lanes& group(unsigned node) { return groups_[node / LANES]; }
    const Lanes& group(unsigned node) const { return groups_[node / LANES]; }

    template <class T>
    static bool flag(const T* flags, unsigned node, unsigned reg) {
        return flags[node % LANES] >> reg & 1;
    }
    template <std::size_t N>
    static bool flag(const std::uint32_t (*flags)[N], unsigned node, unsigned reg) {
        return flags[reg / 32][node % LANES] >> (reg % 32) & 1;
    }

    static const Field* find(const std::string& member) {
        for (const Field& field : fields)
            if (member == field.name) return &field;
        throw DescriptionError("the hardware has no " + member);
    }
    static void unknown(const char* name) {
        PyObject* const key = PyUnicode_FromString(name);
        if (key) PyErr_SetObject(PyExc_KeyError, key);
        Py_XDECREF(key);
    }
    static const Field* signal(const char* name) {
#define SIGNAL_ROW(name, member) {name, member},
        static const Wire table[] = {SIGNALS(SIGNAL_ROW)};
        for (const Wire& row : table)
            if (!std::strcmp(row.name, name)) return find(row.member);
        unknown(name);
        return nullptr;
    }

    // Piece of a field: row `row` of a memory, 32-bit piece `word` of a wide value.
    const char* place(const Field& field, unsigned node, unsigned row, unsigned word) const {
        const std::size_t piece = std::size_t{row} * std::max(1u, field.words) + word;
        return reinterpret_cast<const char*>(&group(node)) + field.offset +
               (piece * LANES + node % LANES) * field.bytes;
    }
    PyObject* value(const Field& field, unsigned node) const {
        if (!field.rows) return word(field, node, 0);
        PyObject* const list = PyList_New(field.rows);
        for (unsigned row = 0; list && row < field.rows; ++row) {
            PyObject* const one = word(field, node, row);
            if (!one) {
                Py_DECREF(list);
                return nullptr;
            }
            PyList_SET_ITEM(list, row, one);
        }
        return list;
    }
    PyObject* word(const Field& field, unsigned node, unsigned row) const {
        std::vector<unsigned char> bytes;
        for (unsigned k = 0; k < std::max(1u, field.words); ++k) {
            const char* const at = place(field, node, row, k);
            bytes.insert(bytes.end(), at, at + field.bytes);
        }
        if (bytes.size() <= 8) {
            std::uint64_t number = 0;
            std::memcpy(&number, bytes.data(), bytes.size());
            return PyLong_FromUnsignedLongLong(number);
        }
        return PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyLong_Type), "from_bytes", "y#s",
                                   reinterpret_cast<const char*>(bytes.data()),
                                   static_cast<Py_ssize_t>(bytes.size()), "little");
    }
    bool set(const Field& field, unsigned node, unsigned row, PyObject* given) {
        const unsigned pieces = std::max(1u, field.words);
        PyObject* const bytes = PyObject_CallMethod(given, "to_bytes", "ns",
                                                    static_cast<Py_ssize_t>(pieces * field.bytes), "little");
        if (!bytes) return false;
        for (unsigned k = 0; k < pieces; ++k)
            std::memcpy(const_cast<char*>(place(field, node, row, k)), PyBytes_AS_STRING(bytes) + k * field.bytes,
                        field.bytes);
        Py_DECREF(bytes);
        return true;
    }

    static const std::vector<Wire>& inputs() {
        static const std::vector<Wire> wires{INPUTS(SIGNAL_ROW)};
        return wires;
    }
    static const std::vector<Wire>& outputs() {
        static const std::vector<Wire> wires{OUTPUTS(SIGNAL_ROW)};
        return wires;
    }

    void connect(const std::vector<Joint>& joints) {
        for (const Joint& joint : joints) {
            const Field& to = *find(inputs().at(joint.input).member);
            const unsigned pieces = std::max(1u, to.words);
            for (unsigned k = 0; k < pieces; ++k) {
                char* const into = const_cast<char*>(place(to, joint.node, 0, k));
                if (joint.from < 0) {
                    if (k < 2) std::memcpy(into, reinterpret_cast<const char*>(&joint.value) + k * 4, to.bytes);
                    continue;
                }
                const Field& of = *find(outputs().at(joint.output).member);
                if (of.bytes != to.bytes || of.words != to.words)
                    throw DescriptionError(std::string{"input "} + inputs()[joint.input].name +
                                           " is joined to an output of another width");
                exchange_.add({into, place(of, static_cast<unsigned>(joint.from), 0, k), to.bytes});
            }
        }
        exchange_.prepare();
    }

    // After the inputs have come in, no output may have changed.
    void check() const {
        if (!exchange_.settled())
            throw DescriptionError(
                "an output of a block depends on an input in the same cycle: `registered` must be False");
    }

    unsigned nodes_;
    std::vector<Lanes> groups_;
    Exchange exchange_;
    std::int64_t time_ = 0;
    int watched_ = 0;
#ifdef WAVE
    std::unique_ptr<Wave> wave_;
#endif
};
