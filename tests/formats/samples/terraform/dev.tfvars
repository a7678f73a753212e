stage = "dev"
