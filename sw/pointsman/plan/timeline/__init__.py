"""How long a routed plan will take: its program played on its own routes, by sampled rounds."""
