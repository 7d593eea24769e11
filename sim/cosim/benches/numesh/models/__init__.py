"""Models of the blocks of a node in plain Python, one for each block: deliberately naive, none derived from the RTL."""
