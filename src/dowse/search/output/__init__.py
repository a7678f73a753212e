"""Result presentation: expand candidates to definitions, token budget packing, explanations, similar code."""
