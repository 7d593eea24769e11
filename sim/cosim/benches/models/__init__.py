"""What the blocks must do, in the plainest words: one cycle at a time, no cleverness, no cocotb.

A model has two calls. ``outputs`` gives the value of every output in this cycle, None where it means nothing;
``clock`` lets the cycle end. Both take the values that the block's inputs have had. The names are those of the ports.
"""
