"""Imports: all-or-nothing and idempotent. One module per family of files."""
