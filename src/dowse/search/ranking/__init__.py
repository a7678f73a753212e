"""The order of candidates: fusion of channels, signals, calibration of relevance."""
