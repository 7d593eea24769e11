"""Parts of negotiated congestion that all routers share: start slots of words, hops to a destination, costs, rows of arrays.

Negotiated congestion (PathFinder; McMurchie and Ebeling 1995): every chain is routed as cheaply as present prices allow, a slot
used twice becomes dearer, and chains in conflict are routed again until there is no conflict. Three routers do that:
``phase_router`` (the streams of a phase of a program), ``network_router`` (many streams on a whole network), and
``ideal_router`` (words without the rules of the node).

Each has its own cheapest paths, trees, prices and rounds: the phase router counts accesses to the interface by condition,
knows slots that only some streams may use and looks for waits of up to 16 slots; the network router keeps every row of prices
twice in succession, in 32 bits, and looks for waits of up to 5 slots, which makes it several times as fast on a thousand
nodes; the ideal router has neither pipelines nor interface. Each breaks ties by its own random numbers, so a common
kernel would give other routes. Start reading at ``starts``.
"""
