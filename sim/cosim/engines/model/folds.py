"""Combining of words in the compiled loop of the model: what `pointsman.runtime.api.folds.Fold` means, on words at addresses."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .requests import CODE, FIRST_FOLD, FOLDS, ITEM, LEFT, MOVED, RESULT, RIGHT, Requests
from .words import double_of, load_word, pattern_of, single_of, store_word

_COPY, _ADD, _MULTIPLY, _MINIMUM, _MAXIMUM, _FMIN, _FMAX, _AND, _OR = range(9)
"""As in `pointsman.runtime.api.folds`; whatever comes after them is an exclusive or."""


@kernel(error_model="numpy")
def combined_whole(function: int, a: int, b: int) -> int:
    """Two whole numbers, or bit patterns."""
    if function == _ADD:
        return a + b
    if function == _MULTIPLY:
        return a * b
    if function in (_MINIMUM, _FMIN):
        return min(a, b)
    if function in (_MAXIMUM, _FMAX):
        return max(a, b)
    if function == _AND:
        return a & b
    return a | b if function == _OR else a ^ b


@kernel(error_model="numpy")
def combined_float(function: int, a: float, b: float) -> float:
    """Two floats of the same type; what is no number wins in a minimum and loses in an fmin."""
    if function == _ADD:
        return a + b
    if function == _MULTIPLY:
        return a * b
    if a != a or b != b:
        return a if (a != a) == (function in (_MINIMUM, _MAXIMUM)) else b
    if function in (_MINIMUM, _FMIN):
        return a if a < b else b
    return a if a > b else b


@kernel(error_model="numpy")
def fold_item(code: int, left: int, right: int, result: int, words: int) -> None:
    """Combine ``words`` words at these addresses."""
    function, kind = code >> 2, code & 3
    step = 1 if function == _COPY or kind < 2 else 2
    for k in range(0, words, step):
        at = 4 * k
        one = load_word(left + at, step == 1)
        if function == _COPY:
            store_word(result + at, True, one)
            continue
        two = load_word(right + at, step == 1)
        if kind == 0:
            whole = combined_whole(function, np.int64(np.int32(one)), np.int64(np.int32(two)))
        elif kind == 1:
            whole = pattern_of(combined_float(function, single_of(one), single_of(two)))
        elif kind == 2:
            whole = combined_whole(function, one, two)
        else:
            whole = pattern_of(combined_float(function, double_of(one), double_of(two)))
        store_word(result + at, step == 1, whole)


@kernel(error_model="numpy")
def fold_lane(requests: Requests, i: int, lane: int) -> None:
    """Carry out the folds of a lane for the item that it has just moved."""
    row = requests.lanes[i, lane]
    first = 4 * (row[MOVED] - row[ITEM])
    for k in range(row[FIRST_FOLD], row[FIRST_FOLD] + row[FOLDS]):
        one = requests.folds[i, k]
        fold_item(one[CODE], one[LEFT] + first, one[RIGHT] + first, one[RESULT] + first, row[ITEM])
