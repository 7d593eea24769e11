"""What the blocks of a node must do, in plain Python: a model a block, naive on purpose, none made from the RTL."""
