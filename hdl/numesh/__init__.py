"""NuMesh scheduled router in Amaranth: one block a file, in the order of the pipeline.

``shape`` (sizes) and ``codes`` (codes, fields, commands) are read by everything: RTL, image writer, checker,
cycle model and documentation.
"""
