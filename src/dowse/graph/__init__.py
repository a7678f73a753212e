"""The code graph: which definition a name means, and what can be asked of the edges that follow from it."""
