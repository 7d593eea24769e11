"""Collective algorithms of others, written as steps: played by value, refused with the step that is wrong, kept as messages in
order."""
