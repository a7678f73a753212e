"""Does search work on this repository? Ground truth, metrics, runs, and the comparison of runs."""
