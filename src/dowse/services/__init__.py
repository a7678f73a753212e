"""Services that are asked over HTTP: by embedders for vectors, by the rewriter of questions for words."""
