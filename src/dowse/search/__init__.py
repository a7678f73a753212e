"""Answers a query from an index: analyze, retrieve, fuse, rerank, expand, pack."""
