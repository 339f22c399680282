"""Servers and processes that tests start for themselves."""
