"""Evaluates search quality on a repository: ground truth, metrics, runs, and the comparison of runs."""
