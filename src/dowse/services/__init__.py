"""Clients of other programs: HTTP services (for embedders and the query rewriter), and git."""
