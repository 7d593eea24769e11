"""Fortran text with HPF directives, in free or fixed form, to an array program. ``reading.read_program`` is the entrance."""
