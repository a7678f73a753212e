"""Benchmarks of dowse: search quality, speed, scale, crash safety. Not part of the installed package."""
