"""What listens on HTTP: the server with its limits on clients, and the guard (hosts, origins, tokens) before it."""
