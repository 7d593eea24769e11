"""The commands of ``pointsman``, a module a command: its options and its help, and little else.

``compile`` and ``run`` know no hardware: what a target does is in ``api.targets``. There are as many modules as commands.
"""
