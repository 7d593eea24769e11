"""An ordinary packet router in Amaranth, the baseline of the scheduled node: dimension order or minimal adaptive.

``shape`` (sizes), ``header`` (fields of the header word) and ``routing`` (where a message may go) are read by everything:
RTL, cycle model, run time and documentation.
"""
