"""Images → C: tables of a program's images and roles, the functions of its operators, and a driver for any processor.

Begin with ``program.c_files``. The driver itself is C, in ``driver``; docs/cop_in_c.md is its page.
"""
