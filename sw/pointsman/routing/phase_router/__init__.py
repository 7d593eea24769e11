"""Routes the streams of a phase: links, pipelines and slots on paths, and on trees where an operator prescribes none.

In come streams, a network, the sizes of its nodes and a period; out comes a ``RoutedPhase`` (Metcalf 1997, §7.1.3). Start reading
at ``router.route_phase``. There are some twenty modules because a phase passes through four steps of a few modules each, which
share the problem's own numbers of nodes and links (``problem``):

- the problem: ``problem``, and ``fixed_routes`` (routes that stay while others are found);
- words per stream: ``share_search``, by counting (``necessary``, ``counting``), short periods (``repetition``) and attempts;
- an attempt, by negotiated congestion: ``attempt``, its arrays (``arrays``, ``branches``, ``placement``) and its kernels
  (``rip_up``: the rounds; ``cheapest_path``: a chain; ``steiner``: trees of streams with several destinations);
- multicasts round one cycle need no attempt (``rounds``); many streams of single words have that of whole networks (``packed``);
- words that processors pass on get slots by when they are there: short messages (``in_turn``), and long ones that leave
  processors no cycle to spare (``paced``); those of short messages of several operators get slots in the order of the program
  (``in_order``); ``turn_order`` tells which word is written after which;
- the answer: ``routes`` (chains in numbers of the problem) and ``assembly`` (as the rest of the compiler reads them).

``pathfinder`` tells why whole networks have another router.
"""
