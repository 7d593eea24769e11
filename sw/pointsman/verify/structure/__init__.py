"""What can be said of images without thinking of time: every number names something, and what belongs together is there.

Comes before all other rules, which would stumble over images without this. Start at ``structure``.
"""
