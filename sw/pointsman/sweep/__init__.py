"""Many runs at once: ``pointsman sweep``, a product of options over applications, on a pool of processes or on dask.

Spec -> cases -> records. ``spec`` reads the file, ``cases`` runs a case and writes its record, ``executors`` bring cases to
processes, ``drive`` resumes and collects, ``outcome`` makes the table and the plot. Start with ``drive``.

A record is a file of its own in the sweep's folder, written whole by the process that ran the case, and a case whose record is
there is not run again. So nothing is lost and nothing is run twice, whoever is killed: the sweep, a worker, or the machine.
"""
