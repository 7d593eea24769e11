"""The judge's game with tokens as arrays: the compiled part of ``token_game``."""
