// Combining of words as they come in: what pointsman.runtime.api.folds.Fold means, with the same codes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

struct Fold {
    const char *left, *right;
    char* result;
    std::uint32_t code;  // four times that of the function, and that of the type
};

namespace Folded {
enum : std::uint32_t { copy, add, multiply, minimum, maximum, fmin, fmax, bit_and, bit_or, bit_xor };
}

template <class T>
T folded(std::uint32_t function, T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (function == Folded::add) return a + b;
        if (function == Folded::multiply) return a * b;
        // What is no number wins in a minimum and loses in an fmin.
        if (a != a || b != b)
            return (a != a) == (function == Folded::minimum || function == Folded::maximum) ? a : b;
        return (function == Folded::minimum || function == Folded::fmin) ? (a < b ? a : b) : (a > b ? a : b);
    } else {
        using Unsigned = std::make_unsigned_t<T>;  // which may overflow
        const Unsigned x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
        switch (function) {
            case Folded::add: return static_cast<T>(x + y);
            case Folded::multiply: return static_cast<T>(x * y);
            case Folded::minimum:
            case Folded::fmin: return a < b ? a : b;
            case Folded::maximum:
            case Folded::fmax: return a > b ? a : b;
            case Folded::bit_and: return static_cast<T>(x & y);
            case Folded::bit_or: return static_cast<T>(x | y);
            default: return static_cast<T>(x ^ y);
        }
    }
}

template <class T>
void fold_as(const Fold& fold, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = 4 * first; at < 4 * end; at += sizeof(T)) {
        T a, b;
        std::memcpy(&a, fold.left + at, sizeof(T));
        std::memcpy(&b, fold.right + at, sizeof(T));
        a = folded(fold.code >> 2, a, b);
        std::memcpy(fold.result + at, &a, sizeof(T));
    }
}

// Combine the words from `first` to before `end`.
inline void carry_out(const Fold& fold, std::uint64_t first, std::uint64_t end) {
    if (fold.code >> 2 == Folded::copy) {
        std::memmove(fold.result + 4 * first, fold.left + 4 * first, 4 * (end - first));
        return;
    }
    switch (fold.code & 3) {
        case 0: return fold_as<std::int32_t>(fold, first, end);
        case 1: return fold_as<float>(fold, first, end);
        case 2: return fold_as<std::int64_t>(fold, first, end);
        default: return fold_as<double>(fold, first, end);
    }
}
