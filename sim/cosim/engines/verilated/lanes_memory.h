// Words of memories, a row for each lane: what lanes_memory.py takes out of the statements.
#pragma once

#include <cstdint>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#ifdef __AVX512F__
// Numbers of words from the first one of the memory on.
inline __m512i lanes_places(const std::uint32_t (&rows)[LANES], int first) {
    const __m512i lane = _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                          _mm512_set1_epi32(first));
    const __m512i row = _mm512_loadu_si512(rows + first);
    return _mm512_add_epi32(_mm512_mullo_epi32(row, _mm512_set1_epi32(LANES)), lane);
}
#endif

template <class T, int ROWS>
inline void lanes_read(T (&into)[LANES], const T (&memory)[ROWS][LANES], const std::uint32_t (&rows)[LANES]) {
#ifdef __AVX512F__
    if constexpr (sizeof(T) == 4 && LANES % 16 == 0) {
        for (int l = 0; l < LANES; l += 16)
            _mm512_storeu_si512(into + l, _mm512_i32gather_epi32(lanes_places(rows, l), memory, 4));
        return;
    }
#endif
    for (int l = 0; l < LANES; ++l) into[l] = memory[rows[l]][l];
}

template <class T, int ROWS>
inline void lanes_write(T (&memory)[ROWS][LANES], const std::uint32_t (&on)[LANES], const std::uint32_t (&rows)[LANES],
                        const T (&words)[LANES]) {
#ifdef __AVX512F__
    if constexpr (sizeof(T) == 4 && LANES % 16 == 0) {
        for (int l = 0; l < LANES; l += 16) {
            const __m512i asked = _mm512_loadu_si512(on + l);
            const __mmask16 mask = _mm512_test_epi32_mask(asked, asked);
            if (mask)
                _mm512_mask_i32scatter_epi32(memory, mask, lanes_places(rows, l), _mm512_loadu_si512(words + l), 4);
        }
        return;
    }
#endif
    std::uint32_t any = 0;
    for (int l = 0; l < LANES; ++l) any |= on[l];
    if (!any) return;
    for (int l = 0; l < LANES; ++l)
        if (on[l]) memory[rows[l]][l] = words[l];
}
