"""What a person sees of a program, a plan and a run: text, tables, plain values for JSON, figures.

``explain`` (what a program means), ``decision`` (what the planner decided and what else there was), ``stages`` (plan, routes and
images as JSON), ``run`` and ``tdm`` (what a run was), ``compare`` (two runs side by side), ``figures`` (drawn).
"""
