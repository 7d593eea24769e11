"""The kinds of hardware behind ``--target``, a module a target: its options, and its side of ``compile`` and ``run``.

Each module has one class that fulfils `pointsman.targets.target.Target`; the commands know that protocol and
`by_name.target_named` only. ``reference`` is what runs with ``--dry``, without any hardware. Start with ``numesh``.
"""
