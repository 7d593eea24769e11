"""The kinds of hardware behind ``--target``, a module for each: its options, and its side of ``compile`` and ``run``.

Each module has a class that implements `pointsman.targets.target.Target`; the commands know only that protocol and
`by_name.target_named`. ``reference`` serves ``run --dry``, without any hardware. Start with ``numesh``.
"""
