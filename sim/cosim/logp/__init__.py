"""LogP (Culler et al. 1993): an abstract machine with a latency, overheads, a gap and a capacity, a program on every processor.

``parameters`` are its figures, with those of the CM-5; ``machine`` runs programs that send and receive; ``carrier`` makes it
carry active messages, and ``session`` runs applications.
"""
