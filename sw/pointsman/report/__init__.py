"""Reports about a program, a plan and a run for people: text, tables, plain values for JSON, figures.

``explain`` (a program's tree, extents and traffic), ``decision`` (the planner's decisions and alternatives), ``stages`` (plan,
routes and images as JSON), ``run`` and ``tdm`` (results of runs), ``compare`` (two runs side by side), ``figures`` (drawn).
"""
