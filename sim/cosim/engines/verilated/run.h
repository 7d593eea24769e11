// One run of programs on a mesh: resumes coroutines, makes their accesses, counts their cycles.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "build.h"
#ifdef LANES
#include "cells.h"
#else
#include "mesh.h"
#endif
#include "requests.h"

// As `EVENT` in cosim/record.py.
struct Event {
    std::int64_t time;
    std::int32_t node;
    std::int16_t reg;
    std::uint8_t write;
    std::uint8_t padding;  // has a value, so that equal runs give equal bytes
    std::uint64_t word;
};

struct Options {
    std::int64_t max_cycles;  // -1: none
    std::int64_t quiet_cycles;
    bool events;
    PyObject* observer;  // borrowed, or null
    PyObject* host;      // borrowed: answers in Python, see cosim/engines/verilated/__init__.py
};

// Where the run counts: int64 arrays that Python made.
struct Counts {
    std::int64_t* cycles;    // nodes x categories
    std::int64_t* accesses;  // nodes x (written, read)
    std::int64_t* finished;  // nodes
    std::size_t categories;
};

class Run {
  public:
    Run(Mesh& mesh, const Vocabulary& names, PyObject* programs, PyObject* results, Counts counts, Options options);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // False with an exception set if the run failed.
    bool to_end();
    const std::vector<Event>& events() const { return events_; }

  private:
    bool resume(unsigned node);
    Entered enter(unsigned node, PyObject* request);
    bool finish(unsigned node, PyObject* value);
    bool complete(unsigned node);
    bool complete_all();
    bool keep_house();
    bool raise_deadlock();
    bool called(Processor& processor, unsigned node) const;
    static bool beside_complete(const Reading& reading);
    static bool may_move(const Reading& reading, const Lane& lane);
    bool choose(unsigned node);
    void begin(unsigned node, const Plain& plain);
    void settle(unsigned node);
    bool known_plain(unsigned node, PyObject* request);
    void cycle();

    // A plain transfer that is under way. It is looked at in every cycle, and all that it needs is in one line of the cache;
    // cycles are counted when it is settled.
    struct alignas(64) Moving : Plain {
        std::int64_t since, stalled;
        std::int64_t *cycles, *accesses;  // where it counts
    };

    Mesh& mesh_;
    const unsigned nodes_;
    Reader reader_;
    PyObject* results_;  // borrowed list
    Counts counts_;
    Options options_;
    std::vector<Processor> processors_;
    std::vector<Moving> moving_;
    std::vector<Kind> kinds_;
    std::vector<std::pair<unsigned, unsigned>> issued_;  // node, lane
    std::vector<unsigned> issued_plain_;                 // nodes
    struct Timer {
        std::int64_t time;
        unsigned node;
        std::uint64_t number;  // of the request
        bool operator>(const Timer& other) const {
            return time != other.time ? time > other.time : node > other.node;
        }
    };
    void set_due(unsigned node) {
        due_[node / 64] |= std::uint64_t{1} << (node % 64);
        any_due_ = true;
    }
    bool is_due(unsigned node) const { return due_[node / 64] >> (node % 64) & 1; }
    bool stale(const Timer& timer) const { return processors_[timer.node].number != timer.number; }
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
    std::vector<std::uint64_t> due_;  // a bit a node
    std::vector<Event> events_;
    std::int64_t started_, quiet_;
    unsigned live_ = 0, transfers_ = 0, empties_ = 0, attended_ = 0;
    bool any_due_ = false;
    long house_every_, house_in_;
};
