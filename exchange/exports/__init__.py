"""Exports as jobs: what leaves, in which form, written to a file in the background."""
