"""Retrieval evaluation on a repository: ground truth (qrels), metrics (NDCG, MRR, recall), runs, significance of
changes.
"""
