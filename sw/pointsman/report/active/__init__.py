"""Runs of active messages as parts of the document of ``pointsman show``: messages, quanta and counters over time (``shown``)."""
