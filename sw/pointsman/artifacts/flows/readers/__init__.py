"""Flows in the formats of others: demand matrices as CSV or MatrixMarket, traffic of VTR, tt-npe, mlir-aie and Poseidon.
Most are read line by line."""
