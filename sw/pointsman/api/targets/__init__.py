"""The kinds of hardware behind ``target``, a module for each with its side of compiling and running.

Each module has a class that implements `pointsman.targets.target.Target`; the rest of the room knows only that protocol and
`by_name.target_named`. ``reference`` serves dry runs, without any hardware. Start with ``numesh``.
"""
