"""What cycle models of any hardware share: the requests of processors in tables, their accesses, and the runs of programs.

``requests`` are the tables, ``accesses`` what compiled loops do with them (``folds`` and ``words`` below it), ``run`` resumes the
programs. The models themselves are with their hardware (``cosim.numesh.engines.model``, ``cosim.packet.model_engine``).
"""
