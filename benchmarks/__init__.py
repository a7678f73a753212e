"""Measures dowse: how good its answers are, how fast it is, how it scales, what it survives. Not shipped."""
