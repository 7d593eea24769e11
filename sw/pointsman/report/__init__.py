"""What a person sees of a compiled program and of a run."""
