"""Code graph: name resolution, call graph, import graph and class hierarchy of a source tree, and queries on them."""
