"""Ranking of candidates: score fusion of channels, a learned model over features, calibration of relevance."""
