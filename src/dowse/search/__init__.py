"""Query processing over an index: analyze, retrieve, fuse, rerank, expand, pack into a token budget."""
