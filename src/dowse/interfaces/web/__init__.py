"""The web page: search, files, the code graph and the state of indexes in a browser, rendered on the server."""
