"""A program that Python makes equals the program that the same words in a text mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pytest

from pointsman import cop
from pointsman.network import graph, mesh

EXAMPLES = Path(__file__).resolve().parents[5] / "examples"

LINES = "(define rows (make-1d 'x)) (define cols (make-1d 'y))\n"


def matmul(net: cop.Network, block: int = 225) -> cop.Parts:
    return [
        cop.defaults(m=block),
        cop.loop(
            "mul",
            net.xsize,
            cop.subset(net.make_1d("x"), cop.broadcast("b", cop.runtime())),
            cop.subset(net.make_1d("y"), cop.cshift("c", -1)),
        ),
    ]


MATMUL_TEXT = (
    LINES + "(defaults :m 225) (loop 'mul *xsize* (subset rows (broadcast 'b (runtime))) (subset cols (cshift 'c -1)))"
)

GAUSS_TEXT = (
    LINES
    + """
(define n 1024)
(define chunk (* 2 (/ n *xsize*)))
(loop 'elim n
  (subset cols (allreduce 'r0 'maxloc_func :m 3))
  (subset rows (broadcast 'b1 (runtime) :m 3))
  (subset cols
    (optional (stream 's2 (runtime) (runtime) :m chunk))
    (broadcast 'b3 (runtime) :m chunk)))
(loop 'subst n
  (subset rows (stream 's4 (runtime) 0 :m chunk))
  (subset (list (car cols)) (broadcast 'b5 (runtime) :m 2)))
"""
)


def gauss(net: cop.Network, *, optional: bool = True) -> cop.Parts:
    n = 1024
    swap = cop.stream("s2", cop.runtime(), cop.runtime(), m=2 * n // net.xsize)
    rows, cols = net.make_1d("x"), net.make_1d(1)
    chunk = 2 * n // net.xsize
    return (
        cop.loop(
            "elim",
            n,
            cop.subset(cols, cop.allreduce("r0", "maxloc_func", m=3)),
            cop.subset(rows, cop.broadcast("b1", cop.runtime(), m=3)),
            cop.subset(
                cols,
                cop.optional(swap) if optional else swap,
                cop.broadcast("b3", cop.runtime(), m=chunk),
            ),
        ),
        cop.loop(
            "subst",
            n,
            cop.subset(rows, cop.stream("s4", cop.runtime(), 0, m=chunk)),
            cop.subset(cols[:1], cop.broadcast("b5", cop.runtime(), m=2)),
        ),
    )


STDIN_TEXT = """
(parallel
  (broadcast 'stdin 0)
  (sequential (broadcast 'b1 17) (broadcast 'b2 0) (reduce 'r 0)))
"""


def stdin(net: cop.Network) -> cop.Parts:
    return cop.parallel(
        cop.broadcast("stdin", 0),
        cop.sequential(cop.broadcast("b1", 17), cop.broadcast("b2", source=0), cop.reduce("r", destination=0)),
    )


FIGURE_6_2 = """
(parallel
  (subset '(1 5 9 13) (cshift 'a 0))
  (subset '(0 4 8 12) (broadcast 'b 3))
  (subset '(2 3 6 7 10 11 14 15) (stream 'c (runtime) (runtime))))
"""


def figure_6_2(net: cop.Network) -> cop.Parts:
    return cop.parallel(
        cop.subset([1, 5, 9, 13], cop.cshift("a", 0)),
        cop.subset(np.arange(0, 16, 4), cop.broadcast("b", 3)),
        cop.subset([*range(2, 4), 6, 7, 10, 11, 14, 15], cop.stream("c", cop.runtime(), cop.runtime())),
    )


THREADS_TEXT = """
(parallel
  (subset '((0 1 4 5)) (loop 'A 1000 (cshift 'A0 1) (broadcast 'A1 3) (barrier 'A2)))
  (subset '((2 3 6 7)) (loop 'B 1000 (cshift 'B0 1) (broadcast 'B1 3) (barrier 'B2))))
"""


def threads(net: cop.Network) -> cop.Parts:
    def side(name: str, nodes: list[int]) -> cop.Part:
        operators = (cop.cshift(f"{name}0", 1), cop.broadcast(f"{name}1", 3), cop.barrier(f"{name}2"))
        return cop.subset(nodes, cop.loop(name, 1000, *operators))

    return cop.parallel(side("A", [0, 1, 4, 5]), side("B", [2, 3, 6, 7]))


DIAGONAL_TEXT = "(doall ((i (all *ysize*))) (subset (list (count (* i *xsize*) *xsize*)) (broadcast 'b i)))"


def diagonal(net: cop.Network) -> cop.Parts:
    return cop.doall(
        lambda i: cop.subset([net.count(i * net.xsize, net.xsize)], cop.broadcast("b", i)), net.all(net.ysize)
    )


BISTREAM = "(define (both a b x y) (parallel (stream a x y) (stream b y x)))\n"
FIGURE_A_1 = (
    BISTREAM
    + """
(doall ((x (all *xsize*)) (y (all *ysize*)) (z (all *zsize*)))
  (if (< x (- *xsize* 1)) (both 'x_plus 'x_minus (coord x y z) (coord (+ 1 x) y z)))
  (if (< y (- *ysize* 1)) (both 'y_plus 'y_minus (coord x y z) (coord x (+ 1 y) z)))
  (if (< z (- *zsize* 1)) (both 'z_plus 'z_minus (coord x y z) (coord x y (+ 1 z)))))
"""
)


def both(a: str, b: str, x: int, y: int) -> cop.Part:
    return cop.parallel(cop.stream(a, x, y), cop.stream(b, y, x))


def figure_a_1(net: cop.Network) -> cop.Parts:
    def links(x: int, y: int, z: int) -> cop.Parts:
        here = net.coord(x, y, z)
        return [
            both("x_plus", "x_minus", here, net.coord(x + 1, y, z)) if x < net.xsize - 1 else None,
            both("y_plus", "y_minus", here, net.coord(x, y + 1, z)) if y < net.ysize - 1 else None,
            both("z_plus", "z_minus", here, net.coord(x, y, z + 1)) if z < net.zsize - 1 else None,
        ]

    return cop.doall(links, range(net.xsize), range(net.ysize), range(net.zsize))


NESTED_TEXT = """
(subset (make-1d 'y)
  (subset '((0 1)) (stream 's 0 (- *nodes* 1)))
  (phase (barrier 'w) (gather 'g (- *ysize* 1)) (spread 'sp 0)))
"""


def nested(net: cop.Network) -> cop.Parts:
    return cop.subset(
        net.make_1d("y"),
        cop.subset([[0, 1]], lambda pair: cop.stream("s", 0, pair.nodes - 1)),
        lambda column: cop.phase(cop.barrier("w"), cop.gather("g", column.ysize - 1), cop.spread("sp", 0)),
    )


OPTIONS_TEXT = """
(define *schedlen* 64)
(define *mode* 'dyn)
(defaults :m 4 :b *min* :type 'float64*)
(prefix 'p 'myfunc :valid '(6 0 2 4))
(loop 'l 5/2
  (collect 'c (runtime :distributed t) :c 2.5 :pipelined t :impl 'str_collect)
  (permute 'pp (runtime :distributed t) :b 0.3)
  (broadcast 'b (runtime :values '(0 7) :dynamic t :block 3)))
(defaults :b nil)
(eoshift 'e (runtime) :type 'int64 :m 2)
(reduce 'r (runtime) (runtime))
(reduce 'q 'f 1)
(permute 'turn '(7 6 5 4 3 2 1 0))
"""


def options(net: cop.Network) -> cop.Parts:
    net.schedlen = 64
    net.mode = "dyn"
    assert (net.schedlen, net.mode) == (64, "dyn")
    return [
        cop.defaults(m=4, b="min", type="float64*"),
        cop.prefix("p", "myfunc", valid=[6, 0, 2, 4]),
        cop.loop(
            "l",
            2.5,
            cop.collect("c", cop.runtime(distributed=True), c=2.5, pipelined=True, impl="str_collect"),
            cop.permute("pp", cop.Runtime(distributed=True), b=0.3),
            cop.broadcast("b", cop.runtime(values=np.array([0, 7]), dynamic=True, block=3)),
        ),
        cop.defaults(b=False),
        cop.eoshift("e", cop.runtime(), type=cop.DataType("int64", array=False), m=2, impl=None),
        cop.reduce("r", cop.runtime(), destination=cop.runtime()),
        cop.reduce("q", function="f", destination=np.int64(1)),
        cop.permute("turn", np.arange(8)[::-1]),
    ]


STDIN_OVER_THREADS = """
(define left (map (lambda (y) (coord 0 y)) (all *ysize*)))
(define right (map (lambda (y) (coord (- *xsize* 1) y)) (all *ysize*)))
(parallel
  (broadcast 'stdin 0)
  (sequential
    (parallel (barrier 's0) (barrier 's1))
    (parallel
      (subset left (loop 'l 9 (barrier 'a0) (barrier 'a1)))
      (subset right (loop 'r 9 (barrier 'b0) (barrier 'b1))))))
"""


def stdin_over_threads(net: cop.Network) -> cop.Parts:
    left = [net.coord(0, y) for y in range(net.ysize)]
    right = [net.coord(net.xsize - 1, y) for y in range(net.ysize)]
    return cop.parallel(
        cop.broadcast("stdin", 0),
        cop.sequential(
            cop.parallel(cop.barrier("s0"), cop.barrier("s1")),
            cop.parallel(
                cop.subset(left, cop.loop("l", 9, cop.barrier("a0"), cop.barrier("a1"))),
                cop.subset(right, cop.loop("r", 9, cop.barrier("b0"), cop.barrier("b1"))),
            ),
        ),
    )


FIGURE_6_3 = """
(define left '(0 1 4 5 8 9 12 13))
(define right '(2 3 6 7 10 11 14 15))
(sequential
  (barrier 'A)
  (parallel
    (subset left (barrier 'B) (barrier 'C) (barrier 'D) (barrier 'E))
    (subset right (barrier 'F) (barrier 'G) (barrier 'H)))
  (barrier 'I))
"""


def figure_6_3(net: cop.Network) -> cop.Parts:
    numbers = np.arange(16).reshape(4, 4)
    left, right = numbers[:, :2].ravel(), numbers[:, 2:].ravel()
    return cop.sequential(
        cop.barrier("A"),
        cop.parallel(cop.subset(left, map(cop.barrier, "BCDE")), cop.subset(right, map(cop.barrier, "FGH"))),
        cop.barrier("I"),
    )


ROWS_AND_COLUMNS = """
(parallel
  (doall ((i (all *ysize*))) (subset (list (nth i (make-1d 'x))) (cshift (symbol-append 'row i) 1)))
  (doall ((i (all *xsize*))) (subset (list (nth i (make-1d 'y))) (cshift (symbol-append 'col i) 1))))
"""


def rows_and_columns(net: cop.Network) -> cop.Parts:
    return cop.parallel(
        [cop.subset(row, cop.cshift(f"row{i}", 1)) for i, row in enumerate(net.make_1d("x"))],
        [cop.subset(column, cop.cshift(f"col{i}", 1)) for i, column in enumerate(net.make_1d("y"))],
    )


TORUS = """
(doall ((x (all *xsize*)) (y (all *ysize*)) (z (all *zsize*)))
  (bistream 'x_plus 'x_minus (coord x y z) (coord (mod (+ 1 x) *xsize*) y z) :m 7)
  (bistream 'y_plus 'y_minus (coord x y z) (coord x (mod (+ 1 y) *ysize*) z)))
"""


def torus_links(net: cop.Network) -> cop.Parts:
    def links(x: int, y: int, z: int) -> cop.Parts:
        here = net.coord(x, y, z)
        yield cop.bistream("x_plus", "x_minus", here, net.coord((x + 1) % net.xsize, y, z), m=7)
        yield cop.bistream("y_plus", "y_minus", here, net.coord(x, (y + 1) % net.ysize, z))

    return cop.doall(links, net.all(net.xsize), net.all(net.ysize), net.all(net.zsize))


COMPOUND_TEXT = """
(transpose 't (make-1d 'x) (make-1d 'z) :m 512)
(bitreverse 'r :m 512)
(grid '(xp xm yp ym zp zm) 2 '(1 2 1) :c 3)
(transpose 'g (sublist (make-1d 'x) 0 4) (car (make-1d 'y)))
(seqread 'in '(3 1 2) (runtime) :m 4)
(seqwrite 'out 0 '(1 5))
"""


def compound(net: cop.Network) -> cop.Parts:
    return [
        cop.transpose("t", net.make_1d("x"), net.make_1d("z"), m=512),
        cop.bitreverse("r", m=512),
        cop.grid(["xp", "xm", "yp", "ym", "zp", "zm"], 2, [1, 2, 1], c=3),
        cop.transpose("g", net.make_1d("x")[:4], net.make_1d("y")[0]),
        cop.seqread("in", np.array([3, 1, 2]), cop.runtime(), m=4),
        cop.seqwrite("out", 0, (1, 5)),
    ]


Case = tuple[str, Callable[..., cop.Parts], tuple[int, ...]]
PAIRS: dict[str, Case] = {
    "one line (§2.2)": ("(broadcast 'b 0)", lambda net: cop.broadcast("b", 0), (4, 4)),
    "loop (§2.3)": (
        "(loop 'l 1000 (broadcast 'b 0) (reduce 'r 0 'myfunc))",
        lambda net: cop.loop("l", 1000, cop.broadcast("b", 0), cop.reduce("r", "myfunc", destination=0)),
        (3, 2),
    ),
    "unpredictable (§2.4.1)": (
        "(parallel (broadcast 'b0 0) (broadcast 'b1 7) (broadcast 'b2 12))",
        lambda net: cop.parallel(cop.broadcast(f"b{k}", node) for k, node in enumerate((0, 7, 12))),
        (4, 4),
    ),
    "continuing (§2.4.2)": (STDIN_TEXT, stdin, (5, 4)),
    "columns (§2.5)": (
        "(subset '((0 4 8 12) (1 5 9 13) (2 6 10 14) (3 7 11 15)) (broadcast 'b (runtime)))",
        lambda net: cop.subset(np.arange(16).reshape(4, 4).T, cop.broadcast("b", cop.runtime())),
        (4, 4),
    ),
    "Figure 2-6": (MATMUL_TEXT, lambda net: matmul(net, 225), (4, 4)),
    "Figure 2-7 with optional (§5.2.2)": (GAUSS_TEXT, lambda net: gauss(net), (4, 4)),
    "shared memory (§2.10.6)": (
        "(doall ((i (all *nodes*))) (stream (symbol-append 's i) i (runtime :dynamic t)))",
        lambda net: cop.doall(lambda i: cop.stream(f"s{i}", i, cop.runtime(dynamic=True)), range(net.nodes)),
        (3, 2),
    ),
    "run-time ends (§4.2.2)": (
        "(parallel (stream 'A (runtime) (runtime)) (stream 'B 0 (runtime)))",
        lambda net: cop.parallel(cop.stream("A", cop.runtime(), cop.runtime()), cop.stream("B", 0, cop.runtime())),
        (4, 4),
    ),
    "Figure 6-1": (THREADS_TEXT, threads, (4, 4)),
    "Figure 6-2": (FIGURE_6_2, figure_6_2, (4, 4)),
    "Figure 7-3": (
        "(sequential (stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3))",
        lambda net: cop.sequential(
            cop.stream(label, source, destination) for label, source, destination in
            (("A", 1, 3), ("B", 1, 3), ("C", 3, 2), ("D", 2, 3))
        ),
        (4,),
    ),
    "xor (A.8)": (
        "(doall ((i (all *nodes*))) (stream 'xor i (logxor i 1)))",
        lambda net: cop.doall(lambda i: cop.stream("xor", i, i ^ 1), net.all(net.nodes)),
        (4, 4),
    ),
    "diagonal (A.8)": (DIAGONAL_TEXT, diagonal, (3, 3)),
    "Figure A-1": (FIGURE_A_1, figure_a_1, (3, 2, 2)),
    "Figure 2-7": (
        GAUSS_TEXT.replace("(optional (stream 's2 (runtime) (runtime) :m chunk))", "(stream 's2 (runtime) (runtime) :m chunk)"),
        lambda net: gauss(net, optional=False), (8, 8),
    ),
    "continuing over phases (§5.1.1)": (
        "(parallel (broadcast 'stdin 0) (sequential (barrier 'op1) (barrier 'op2) (barrier 'op3)))",
        lambda net: cop.parallel(cop.broadcast("stdin", 0), cop.sequential(cop.barrier(f"op{k}") for k in (1, 2, 3))),
        (3, 3),
    ),
    "continuing over threads (§5.1.2)": (STDIN_OVER_THREADS, stdin_over_threads, (3, 2)),
    "valid (§5.2.4)": (
        "(prefix 'p 'myfunc :valid '(0 2 4 6))",
        lambda net: cop.prefix("p", "myfunc", valid=net.step(2, 0, 6)),
        (8,),
    ),
    "Figure 5-1": (
        "(sequential (stream 'A 1 2) (stream 'B 2 1))",
        lambda net: cop.sequential(cop.stream("A", 1, 2), cop.stream("B", 2, 1)),
        (3,),
    ),
    "Figure 6-3": (FIGURE_6_3, figure_6_3, (4, 4)),
    "rows and columns (§6.2.2)": (ROWS_AND_COLUMNS, rows_and_columns, (3, 2)),
    "Figure 7-5": (
        "(loop 'again 10 (stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3))",
        lambda net: cop.loop("again", 10, map(cop.stream, "ABCD", (1, 1, 3, 2), (3, 3, 2, 3))),
        (4,),
    ),
    "Figures 8-6 and 8-7": (
        "(broadcast 'one (runtime) :m 1 :impl 'str_bcast_dense) (broadcast 'many 0 :m 1024 :impl 'str_bcast_dense)",
        lambda net: [
            cop.broadcast("one", cop.runtime(), m=1, impl="str_bcast_dense"),
            cop.broadcast("many", 0, m=1024, impl="str_bcast_dense"),
        ],
        (4, 4),
    ),
    "torus (A.8)": (TORUS, torus_links, (3, 2)),
    "operators in terms of others": (COMPOUND_TEXT, compound, (4, 4, 4)),
    "nested subsets": (NESTED_TEXT, nested, (3, 4)),
    "options": (OPTIONS_TEXT, options, (8,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_text_and_python_give_equal_programs(name: str) -> None:
    text, body, size = PAIRS[name]
    from_text = cop.compile_text(text, topology=mesh(*size))
    from_python = cop.compile_program(body, topology=mesh(*size))
    assert from_python == from_text


def test_a_difference_is_seen() -> None:
    assert cop.compile_text("(broadcast 'b 1)", topology=mesh(4)) != cop.compile_program(
        cop.broadcast("b", 0), topology=mesh(4)
    )


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 3), (4, 4)])
def test_matmul_of_the_examples_equals_its_python(size: tuple[int, int]) -> None:
    given = {"block": 100}
    text = cop.compile_file(EXAMPLES / "matmul" / "matmul.cop", topology=mesh(*size), parameters=given)
    program = cop.compile_program(matmul, topology=mesh(*size), parameters=given)
    assert program == text
    assert program.parameters == (("block", 100),)
    assert {operator.m for operator in program.operators()} == {100}


def halo(net: cop.Network, words: int = 8) -> cop.Parts:
    return cop.loop(
        "sweep",
        10,
        cop.grid(["east", "west", "north", "south"], 1, 1, m=words),
        cop.broadcast("go", 0, m=words, impl="star_bcast"),
    )


@pytest.mark.parametrize("size", [(3, 3), (2, 4)])
def test_halo_of_the_examples_equals_its_python(size: tuple[int, int]) -> None:
    text = cop.compile_file(EXAMPLES / "extending" / "halo.cop", topology=mesh(*size), parameters={"words": 5})
    assert cop.compile_program(halo, topology=mesh(*size), parameters={"words": 5}) == text


def test_parts_may_stand_without_a_function() -> None:
    alone = cop.compile_program([cop.barrier("w"), None, [[cop.broadcast("b", 0)]]], topology=mesh(4))
    assert alone == cop.compile_text("(barrier 'w) (broadcast 'b 0)", topology=mesh(4))


def test_a_part_may_stand_in_several_programs() -> None:
    part = cop.broadcast("b", 0)
    small, large = (cop.compile_program(part, topology=mesh(n)) for n in (2, 5))
    assert [len(p.root.children[0].instances[0].nodes) for p in (small, large)] == [2, 5]  # type: ignore[union-attr]


def test_network_of_networkx() -> None:
    petersen = networkx.petersen_graph()
    program = cop.compile_program(lambda net: cop.broadcast("b", net.nodes - 1), topology=petersen)
    assert program.topology.kind == "graph"
    text = cop.compile_text("(broadcast 'b 9)", topology=graph(10, sorted(petersen.edges)))
    assert program == text


def test_position_is_the_call_in_this_file() -> None:
    program = cop.compile_program(diagonal, topology=mesh(2, 2))
    (operator,) = program.operators()
    assert operator.position is not None
    assert operator.position.file == __file__
    line = Path(__file__).read_text().split("\n")[operator.position.line - 1]
    assert line[operator.position.column - 1 :].startswith('cop.broadcast("b", i)')
