;/*
; Each node smooths its square of a torus; before each sweep neighbours exchange the borders of their squares. halo.py is the same in Python.

(parameter side 6)    ; rows and columns of a node's square
(parameter sweeps 4)
(define rows (make-1d 'x))
(define cols (make-1d 'y))
(defaults :m side)

(loop 'sweep sweeps
  (subset rows
    (cshift 'east 1)
    (cshift 'west -1))
  (subset cols
    (cshift 'south 1)
    (cshift 'north -1)))
*/
#include "halo.h"
#include "soc.h"

#define SWEEPS 4

static struct pm cop;
static int32_t field[SIDE * SIDE], fresh[SIDE * SIDE];
static int32_t border[SIDE], west[SIDE], east[SIDE], north[SIDE], south[SIDE];

static const int32_t *column(int x)
{
    int i;
    for (i = 0; i < SIDE; i++)
        border[i] = field[i * SIDE + x];
    return border;
}

/* This node's square, as one processor alone computes the whole torus, is another than ``field``. */
static int differs(void)
{
    static int32_t whole[YSIZE * SIDE][XSIZE * SIDE], then[YSIZE * SIDE][XSIZE * SIDE];
    int i, j, k;
    const int rows = YSIZE * SIDE, columns = XSIZE * SIDE;
    for (i = 0; i < rows; i++)
        for (j = 0; j < columns; j++)
            whole[i][j] = (37 * i + 101 * j) % 1009;
    for (k = 0; k < SWEEPS; k++) {
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                then[i][j] = (4 * whole[i][j] + whole[(i + rows - 1) % rows][j] + whole[(i + 1) % rows][j]
                              + whole[i][(j + columns - 1) % columns] + whole[i][(j + 1) % columns]) >> 3;
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                whole[i][j] = then[i][j];
    }
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            if (field[i * SIDE + j] != whole[MY_Y * SIDE + i][MY_X * SIDE + j])
                return 1;
    return 0;
}

int main(void)
{
    int i, j, k;
    cop_init(&cop, &COP_NODE, BRIDGE);
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            field[i * SIDE + j] = (37 * (MY_Y * SIDE + i) + 101 * (MY_X * SIDE + j)) % 1009;
    sweep_load(&cop);
    for (k = 0; k < SWEEPS; k++) {
        /* What goes east is the west border of the node that receives it, and so on. */
        east_load(&cop);
        east_func(&cop, column(SIDE - 1), west);
        west_load(&cop);
        west_func(&cop, column(0), east);
        south_load(&cop);
        south_func(&cop, &field[(SIDE - 1) * SIDE], north);
        north_load(&cop);
        north_func(&cop, field, south);
        for (i = 0; i < SIDE; i++)
            for (j = 0; j < SIDE; j++) {
                int32_t up = i ? field[(i - 1) * SIDE + j] : north[j];
                int32_t down = i < SIDE - 1 ? field[(i + 1) * SIDE + j] : south[j];
                int32_t left = j ? field[i * SIDE + j - 1] : west[i];
                int32_t right = j < SIDE - 1 ? field[i * SIDE + j + 1] : east[i];
                fresh[i * SIDE + j] = (4 * field[i * SIDE + j] + up + down + left + right) >> 3;
            }
        for (i = 0; i < SIDE * SIDE; i++)
            field[i] = fresh[i];
    }
    cop_fini(&cop);
    for (i = 0; i < SIDE * SIDE; i++)
        output(field[i]);
    finish(&cop, differs());
}
