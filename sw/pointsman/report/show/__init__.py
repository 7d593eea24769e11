"""``pointsman show``: a program, its schedule and its run as one JSON document, and as one page of HTML that explains it.

``document`` says what the document holds; ``numesh``, ``switch``, ``packet`` and ``routes`` make it from what a target is
given and what a run recorded; ``page`` draws it in a browser, ``figures`` on paper, ``exports`` hands it to other viewers.
"""
