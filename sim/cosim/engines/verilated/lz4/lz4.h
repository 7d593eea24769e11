// What Verilator's writer of waveforms needs of LZ4, where the library is not installed: a block of literals alone.
//
// That is a legal LZ4 block (one sequence, no match), which every reader takes; it is a little longer than its content.
#pragma once

#include <cstring>

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

inline int LZ4_compress_default(const char* from, char* to, int size, int room) {
    if (size < 0 || room < LZ4_compressBound(size)) return 0;
    char* at = to;
    *at++ = static_cast<char>((size < 15 ? size : 15) << 4);
    for (int rest = size - 15; rest >= 0; rest -= 255) *at++ = static_cast<char>(rest < 255 ? rest : 255);
    std::memcpy(at, from, static_cast<std::size_t>(size));
    return static_cast<int>(at - to) + size;
}
