"""Keeps an index true to a tree: discover files, compare with what is stored, read, understand, store."""
