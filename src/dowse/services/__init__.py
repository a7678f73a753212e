"""Clients of external programs: an HTTP client (for embedders and the query rewriter), and git."""
