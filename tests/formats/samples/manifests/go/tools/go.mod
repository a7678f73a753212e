module example.org/tools
