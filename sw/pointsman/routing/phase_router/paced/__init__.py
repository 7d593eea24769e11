"""Long messages that processors pass on without a cycle to spare: each access gets a cycle of its own, as words get slots.

Takes streams of a phase that all have a place in an order (``Stream.turn``), in a schedule of as many slots as the busiest
processor has accesses for a word of each; gives chains of a word a period, and None where it finds none or the streams are of
other kinds. It does not check its answer.

Where a processor makes an access in every cycle, two words that come in the same cycle of the period hold each other up: one is
read later, perhaps after the next word of its stream should have been delivered, which then waits for a period, as do all that
are combined with it. So cycles of processors are given out like moves of routers (modulo scheduling; Rau 1994, "Iterative modulo
scheduling"). Multicasts are placed first, then words in the order of their deadlines. A word takes the cheapest place, where its
being late costs something, and the places of others more, which are placed again. Then words on the longest way, or of a
processor that does not keep pace in either order of its parts (``pointsman.routing.pace``), are placed again with some beside
them, and the attempt goes on from there unless it is worse. Attempts differ in the slots of the multicasts.

`search` tries attempts, `order` says which word waits for which and what ways it has, `attempt` gives out places.
"""
