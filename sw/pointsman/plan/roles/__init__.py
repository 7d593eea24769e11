"""What every node does in an operator once its streams are routed: its lanes, VFSMs that it rewrites, and its delays.

``roles`` asks the implementation for each instance, node and run-time value, and the marked graph how the operator
ends; ``instances`` moves the roles of an instance to instances that look like it. A routed phase comes in, a
`PlannedOperator` goes out. Start at ``roles`` (Metcalf 1997, §4.1, §5.2.1).
"""
