"""The streams of one phase of a program to links, pipelines and slots: paths, and trees where an operator prescribes none.

In come streams, a network, the sizes of its nodes and a period; out comes a ``RoutedPhase`` (Metcalf 1997, §7.1.3). Start reading
at ``router.route_phase``. There are sixteen modules because a phase passes through four steps, each of a few modules that one
can read alone, and all four speak the language of one of them (``problem``):

- the problem in numbers of its own: ``problem``, ``fixed_routes`` (routes beside which others are found);
- how many words: ``share_search``, by counting (``necessary``, ``counting``), short periods (``repetition``) and attempts;
- one attempt, by negotiated congestion: ``attempt``, its arrays (``arrays``, ``branches``, ``placement``) and its kernels
  (``rip_up``: the rounds; ``cheapest_path``: one chain; ``steiner``: trees of streams with several destinations);
- the answer: ``routes`` (chains in numbers of the problem) and ``assembly`` (as the rest of the compiler reads them).

Why there is another router for whole networks is said in ``pathfinder``.
"""
