"""Checks of images that need no notion of time: every number names something, and every table has its full size.

Done before all other rules, which would stumble over images that break these. Start at ``structure``.
"""
