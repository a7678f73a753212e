"""Ranking of candidates: score fusion of channels, reranking by signals, calibration of relevance."""
