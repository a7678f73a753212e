"""Answers a question from an index: analyse, retrieve, fuse, weigh, expand."""
