"""Flows in the formats of others: demand matrices as CSV or MatrixMarket, and the traffic flows of VTR. Each is read
line by line."""
