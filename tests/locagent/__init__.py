"""The ranking profile that compares with LocAgent."""
