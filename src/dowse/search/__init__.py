"""Query processing over an index: analyze, retrieve, fuse, rank, expand, pack into a token budget."""
