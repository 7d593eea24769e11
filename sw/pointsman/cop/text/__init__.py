"""COP as text: characters to forms and back, the layout of ``pointsman fmt``, and where in a text an error is.

``reader`` makes forms, ``writer`` prints a `Program` as COP, ``layout`` lays out a text anew, ``source`` has places and errors.
"""
