// What goes from outputs of blocks to inputs of others after every cycle.
//
// Where blocks stand side by side in vectors of 512 bits (16 lanes of 32 bits), an input of 16 blocks is one vector, and comes
// from few others, whatever the network: each of these is permuted into its places. All else is copied, neighbouring
// pieces at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

class Exchange {
  public:
    struct Piece {
        char* to;
        const char* from;
        std::size_t bytes;
    };

    void add(const Piece& piece) { pieces_.push_back(piece); }

    // To be called once, when all pieces are there.
    void prepare() {
        std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.to < b.to; });
        std::vector<Piece> copied;
        for (const Piece& piece : pieces_) {
            if (permute(piece)) continue;
            if (!copied.empty() && copied.back().to + copied.back().bytes == piece.to &&
                copied.back().from + copied.back().bytes == piece.from)
                copied.back().bytes += piece.bytes;
            else
                copied.push_back(piece);
        }
        copied_ = std::move(copied);
    }

    void pass() const {
        for (const Piece& piece : copied_) std::memcpy(piece.to, piece.from, piece.bytes);
#ifdef __AVX512F__
        const Source* source = sources_.data();
        for (const Target& target : targets_) {
            __m512i words = _mm512_load_si512(target.to);
            for (unsigned left = target.sources; left; --left, ++source) {
                const __m512i index = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(source->index)));
                words = _mm512_mask_permutexvar_epi32(words, source->lanes, index, _mm512_load_si512(source->from));
            }
            _mm512_store_si512(target.to, words);
        }
#endif
    }

    // Whether a pass would change nothing.
    bool settled() const {
        return std::all_of(pieces_.begin(), pieces_.end(),
                           [](const Piece& piece) { return !std::memcmp(piece.to, piece.from, piece.bytes); });
    }

  private:
#ifdef __AVX512F__
    static constexpr std::size_t kVector = 64;

    struct alignas(16) Source {
        std::uint8_t index[16];
        const char* from;
        std::uint16_t lanes;
    };
    struct Target {
        char* to;
        unsigned sources;
    };

    static std::size_t within(const char* place) { return reinterpret_cast<std::uintptr_t>(place) % kVector; }

    // Pieces come in the order of their places.
    bool permute(const Piece& piece) {
        if (piece.bytes != 4) return false;
        char* const to = piece.to - within(piece.to);
        const char* const from = piece.from - within(piece.from);
        if (targets_.empty() || targets_.back().to != to) targets_.push_back({to, 0});
        Target& target = targets_.back();
        const auto first = sources_.end() - target.sources;
        auto source = std::find_if(first, sources_.end(), [from](const Source& one) { return one.from == from; });
        if (source == sources_.end()) {
            sources_.push_back({{}, from, 0});
            ++target.sources;
            source = sources_.end() - 1;
        }
        const std::size_t lane = within(piece.to) / 4;
        source->index[lane] = static_cast<std::uint8_t>(within(piece.from) / 4);
        source->lanes |= static_cast<std::uint16_t>(1u << lane);
        return true;
    }

    std::vector<Source> sources_;
    std::vector<Target> targets_;
#else
    static bool permute(const Piece&) { return false; }
#endif
    std::vector<Piece> pieces_, copied_;
};
