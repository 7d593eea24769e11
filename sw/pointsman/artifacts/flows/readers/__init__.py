"""Flows in the formats of others: demand matrices as CSV or MatrixMarket, traffic of VTR, tt-npe, mlir-aie and Poseidon.
Files are read in lines or pieces, so that only flows are kept."""
