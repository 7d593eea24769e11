"""The functions that a COP text may call: on numbers, lists, strings and the network.

``library`` gathers them from the other modules. Each takes the evaluator, which counts its work, and a list of values.
"""
