"""The tree of an array program: affine expressions, mappings of arrays onto processors, statements, and what they mean."""
