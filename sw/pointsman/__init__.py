"""Pointsman: compiles an application's communications into cycle-exact timetables for network hardware."""

from importlib.metadata import version

__version__ = version("pointsman")
