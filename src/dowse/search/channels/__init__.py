"""Retrieval channels (candidate generation): lexical BM25, names, files, dense, phrases, frames, versions."""
