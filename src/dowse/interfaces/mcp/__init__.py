"""dowse for agents: a server for the Model Context Protocol.

``tools.py`` is the table of tools; ``handlers.py`` what they do; ``service.py`` answers the requests of the protocol,
whatever carries them; ``stdio.py`` and ``http_server.py`` carry them. ``workspace.py`` says which folders may be
searched, ``session.py`` remembers what a client has been sent, ``responses.py`` writes answers.

Nothing here searches: that is the engine's.
"""
