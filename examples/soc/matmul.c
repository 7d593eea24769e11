;/*
; Matrix multiplication on a two-dimensional mesh (Metcalf 1997, Figure 2-6), on RISC-V nodes: matmul.py is the same in Python.

(parameter side 6)          ; rows and columns of a block
(define rows (make-1d 'x))
(define cols (make-1d 'y))
(defaults :m (* side side)) ; one message is one block

(loop 'mul *xsize*
  (subset rows
    (broadcast 'b (runtime)))
  (subset cols
    (cshift 'c -1)))
*/
#include "matmul.h"
#include "soc.h"

static struct pm cop;
static int32_t a[SIDE * SIDE], heard[SIDE * SIDE], b[SIDE * SIDE], next[SIDE * SIDE], sum[SIDE * SIDE];

/* Items of the matrices, in rows and columns of the whole. */
static int32_t item_a(int32_t row, int32_t column)
{
    return (31 * row + 17 * column + 5) % 199 - 99;
}

static int32_t item_b(int32_t row, int32_t column)
{
    return (13 * row + 29 * column + 7) % 211 - 105;
}

static void multiply_add(const int32_t *left, const int32_t *right)
{
    int i, j, k;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++) {
            int32_t total = sum[i * SIDE + j];
            for (k = 0; k < SIDE; k++)
                total += left[i * SIDE + k] * right[k * SIDE + j];
            sum[i * SIDE + j] = total;
        }
}

/* This node's block of the product, as one processor alone computes it, is another than ``sum``. */
static int differs(void)
{
    int i, j, k;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++) {
            int32_t total = 0;
            for (k = 0; k < XSIZE * SIDE; k++)
                total += item_a(MY_Y * SIDE + i, k) * item_b(k, MY_X * SIDE + j);
            if (total != sum[i * SIDE + j])
                return 1;
        }
    return 0;
}

int main(void)
{
    int i, j, k;
    cop_init(&cop, &COP_NODE, BRIDGE);
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++) {
            a[i * SIDE + j] = item_a(MY_Y * SIDE + i, MY_X * SIDE + j);
            b[i * SIDE + j] = item_b(MY_Y * SIDE + i, MY_X * SIDE + j);
        }
    mul_load(&cop);
    for (k = 0; k < XSIZE; k++) {
        int source = (MY_Y + k) % XSIZE;
        b_load(&cop, source);
        if (MY_X == source)
            b_write(&cop, a);
        else
            b_read(&cop, heard);
        multiply_add(MY_X == source ? a : heard, b);
        c_load(&cop);
        c_func(&cop, b, next);
        for (i = 0; i < SIDE * SIDE; i++)
            b[i] = next[i];
    }
    cop_fini(&cop);
    for (i = 0; i < SIDE * SIDE; i++)
        output(sum[i]);
    finish(&cop, differs());
}
