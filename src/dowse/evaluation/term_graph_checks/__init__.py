"""Keeps a term graph honest: is it in order, does it help, and what could be in it?"""
