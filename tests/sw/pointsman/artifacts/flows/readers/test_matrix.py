"""Demand matrices, and what is wrong with them."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.readers.matrix import from_csv, from_matrix_market
from pointsman.errors import PointsmanError

HEAD = "%%MatrixMarket matrix coordinate real general\n"


ARRAY = HEAD.replace("coordinate", "array")


def table(flows):
    return {(flow.source, *flow.destinations): flow.bandwidth for flow in flows.flows}


def test_both_forms_say_the_same():
    csv = from_csv(["# demand\n", "0,5,1\n", "2,0,0\n", "\n", "0,1.5,0\n"])
    market = from_matrix_market((HEAD + "% a remark\n3 3 4\n1 2 5\n1 3 1\n2 1 2\n3 2 1.5\n").splitlines(keepends=True))
    assert csv == market
    assert table(csv) == pytest.approx({(0, 1): 5 / 6.5, (0, 2): 1 / 6.5, (1, 0): 2 / 6.5, (2, 1): 1.5 / 6.5})
    assert [task.at for task in csv.tasks] == [0, 1, 2]


def test_a_symmetric_matrix_has_both_directions():
    text = HEAD.replace("general", "symmetric") + "2 2 1\n2 1 3\n"
    assert table(from_matrix_market(text.splitlines())) == {(0, 1): 1.0, (1, 0): 1.0}


def test_entries_of_a_pattern_are_demands_of_one():
    text = HEAD.replace("real", "pattern") + "3 3 2\n1 2\n3 2\n"
    assert table(from_matrix_market(text.splitlines())) == {(0, 1): 0.5, (2, 1): 0.5}


def test_an_array_goes_column_by_column_and_a_symmetric_one_from_the_diagonal_down():
    whole = from_matrix_market((ARRAY + "2 2\n0\n1\n4\n0\n").splitlines())
    assert table(whole) == {(1, 0): 0.25, (0, 1): 1.0}
    half = ARRAY.replace("general", "symmetric") + "3 3\n0\n2\n1\n0\n1\n0\n"
    assert table(from_matrix_market(half.splitlines())) == pytest.approx(
        {(0, 1): 2 / 3, (1, 0): 2 / 3, (0, 2): 1 / 3, (2, 0): 1 / 3, (1, 2): 1 / 3, (2, 1): 1 / 3}
    )


@pytest.mark.parametrize("text", [",a\na,0\n", "0;1\n1;0\n", '"0","1"\n"1","0"\n'])
def test_other_tables_are_refused_with_what_a_matrix_is(text):
    with pytest.raises(PointsmanError, match="line 1: a demand must be a number of 0 or more") as error:
        from_csv(text.splitlines())
    assert error.value.hint == "a matrix is rows of plain numbers, separated by commas, without titles"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0,1\n2\n", "line 2: a row must have 2 numbers, as the first has, not 1"),
        ("0,1\n1,x\n", "line 2: a demand must be a number of 0 or more, not 'x'"),
        ("0,-1\n1,0\n", "line 1: a demand must be a number of 0 or more, not '-1'"),
        ("0,nan\n1,0\n", "line 1: a demand must be"),
        ("0,1_000\n1,0\n", "line 1: a demand must be a number of 0 or more, not '1_000'"),
        ("0,\u0663\n1,0\n", "line 1: a demand must be a number of 0 or more, not '\u0663'"),
        ("0,1e308\n1,0\n", "line 1: a demand must be 0, or a number of 1e-100 to 1e+100, not '1e308'"),
        ("0,1\n", "a matrix must have as many rows as columns: 1 rows, 2 columns"),
        ("0,1\n1,0\n1,1\n", "line 3: a matrix of 2 columns must have 2 rows"),
        ("", "a matrix must have as many rows as columns"),
    ],
)
def test_a_wrong_csv_is_refused_by_line(text, line):
    with pytest.raises(PointsmanError) as error:
        from_csv(text.splitlines(keepends=True))
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("3 3 1\n", "line 1: a file must begin with"),
        (HEAD.replace("real", "complex") + "1 1 0\n", "line 1: a file must begin with"),
        (ARRAY.replace("real", "pattern") + "1 1\n", "line 1: a file must begin with"),
        (HEAD.replace("real", "pattern") + "2 2 1\n1 2 1\n", "line 3: an entry must be row and column, not '1 2 1'"),
        (HEAD + "2 2 2\n1 1 1\n1 1 1\n", "line 4: the demand from 0 to 0 is there already"),
        (ARRAY + "2 2 4\n", "line 2: rows and columns must be 2 whole numbers, not '2 2 4'"),
        (ARRAY + "2 2\n0\n1\n2\n0\n7\n", "line 7: the array is full, and here is one more number"),
        (ARRAY + "2 2\n0\n1\n2\n", "1 too few"),
        (ARRAY + "2 2\n0 1\n2 0\n", "line 3: a demand must be a number of 0 or more, not '0 1'"),
        (
            HEAD.replace("general", "hermitian") + "1 1 0\n",
            "line 1: a matrix must be general or symmetric, not hermitian",
        ),
        (HEAD + "2 3 1\n", "line 2: a matrix must have as many rows as columns, not 2 and 3"),
        (HEAD + "2 2\n", "line 2: rows, columns and entries must be 3 whole numbers, not '2 2'"),
        (HEAD + "2 2 1\n1 3 1\n", "line 3: row and column must be 1 to 2, not 1 and 3"),
        (HEAD + "2 2 1\n1 2\n", "line 3: an entry must be row, column and value, not '1 2'"),
        (HEAD + "2 2 2\n1 2 1\n1 2 1\n", "line 4: the demand from 0 to 1 is there already"),
        (HEAD + "2 2 2\n1 2 1\n", "1 too few"),
        (HEAD + "99999 99999 1\n", "line 2: a matrix must have 1 to 4096 rows"),
    ],
)
def test_a_wrong_matrix_market_file_is_refused_by_line(text, line):
    with pytest.raises(PointsmanError) as error:
        from_matrix_market(text.splitlines(keepends=True))
    assert line in str(error.value)


def test_words_of_the_header_may_be_capitals():
    head = "%%MatrixMarket MATRIX Coordinate Real General\n"
    assert from_matrix_market([head, "2 2 1\n", "1 2 5\n"]) == from_matrix_market(
        [head.lower().replace("%%matrixm", "%%MatrixM"), "2 2 1\n", "1 2 5\n"]
    )
    with pytest.raises(PointsmanError, match=r"^line 1: a file must begin with"):
        from_matrix_market([])


def test_demands_of_nodes_to_themselves_are_left_out_and_told_once():
    told = []
    flows = from_csv(["9,5,1\n", "2,0,0\n", "0,1.5,7\n"], tell=told.append)
    assert flows == from_csv(["0,5,1\n", "2,0,0\n", "0,1.5,0\n"], tell=told.append)
    assert told == ["left out, as it needs no network: the demand of node 0 to itself (line 1), and 1 more like it"]
    told.clear()
    one = from_matrix_market(
        (HEAD.replace("general", "symmetric") + "2 2 2\n2 2 3\n2 1 3\n").splitlines(), tell=told.append
    )
    assert table(one) == {(0, 1): 1.0, (1, 0): 1.0}
    assert told == ["left out, as it needs no network: the demand of node 1 to itself (line 3)"]
    assert table(from_csv(["3\n"])) == {}
