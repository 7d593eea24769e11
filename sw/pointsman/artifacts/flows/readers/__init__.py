"""Flows in the formats of others: demand matrices as CSV or MatrixMarket, traffic of VTR, tt-npe and mlir-aie. Most are read line
by line."""
