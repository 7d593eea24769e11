// Waveforms of blocks that are evaluated side by side: each has an object of Verilator's, which is only looked at.
#pragma once

#ifdef WAVE

#include <memory>
#include <string>
#include <vector>

#include "Vmesh.h"
#include "Vmesh___024root.h"
#include "Vmesh__Syms.h"
#include "verilated_fst_c.h"

class Wave {
  public:
    Wave(const char* path, std::int64_t from, std::int64_t to, unsigned nodes) : from_{from}, to_{to} {
        context_.traceEverOn(true);
        for (unsigned node = 0; node < nodes; ++node) {
            const std::string name = "node_" + std::to_string(node);
            models_.push_back(std::make_unique<Vmesh>(&context_, name.c_str()));
            models_.back()->eval();
        }
        context_.trace(&file_, 99);  // all models of the context
        file_.open(path);
    }
    ~Wave() {
        file_.close();
        for (auto& model : models_) model->final();
        models_.clear();
        Verilated::threadContextp(nullptr);
    }
    bool is_open() const { return file_.isOpen(); }

    // The state after the clock edge that ends cycle `time - 1`: what is seen in cycle `time`. Two steps a cycle.
    template <class M>
    void sample(const M& mesh, std::int64_t time) {
        if (time < from_ || time > to_) return;
        for (int half = 0; half < 2; ++half) {
            for (unsigned node = 0; node < models_.size(); ++node) {
                auto& root = *models_[node]->rootp;
                if (!half) mesh.store(node, root);
                root.clk = !half;
                root.vlSymsp->__Vm_activity = true;
                for (int k = 0; k < kActivities; ++k) root.__Vm_traceActivity[k] = 1;
            }
            file_.dump(static_cast<std::uint64_t>(2 * time + half));
        }
    }

  private:
    static constexpr int kActivities =
        sizeof(Vmesh___024root::__Vm_traceActivity) / sizeof(Vmesh___024root::__Vm_traceActivity[0]);

    VerilatedContext context_;
    VerilatedFstC file_;
    std::vector<std::unique_ptr<Vmesh>> models_;
    std::int64_t from_, to_;
};

#endif
