"""The kinds of hardware behind ``--target``, a module for each with its side of ``compile`` and ``run``; their ``options``.

Each module has a class that implements `pointsman.targets.target.Target`; the commands know only that protocol and
`by_name.target_named`. ``reference`` serves ``run --dry``, without any hardware. Start with ``numesh``.
"""
