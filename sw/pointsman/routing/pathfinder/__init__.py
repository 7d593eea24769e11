"""What every router here needs to negotiate congestion: start slots of words, hops to an end, costs, rows of arrays.

Negotiated congestion (PathFinder; McMurchie and Ebeling 1995): everything is routed as cheaply as present prices allow, whatever
is used twice becomes dearer, and what is in conflict is routed again until nothing is. Three routers do that:
``phase_router`` (the streams of one phase of a program), ``network_router`` (many streams on a whole network), and
``ideal_router`` (words without the rules of the node).

Why their cheapest paths, trees, prices and rounds are not one: the phase router counts accesses to the interface by condition,
knows slots that only some streams may use and looks for waits of up to 16 slots; the network router keeps every row of prices
twice, one after the other, in 32 bits and looks for waits of up to 5 slots, which makes it several times as fast on a thousand
nodes; the ideal router has neither pipelines nor interface. Each breaks ties by its own random numbers, so that another
kernel would give other routes. Start reading at ``starts``.
"""
