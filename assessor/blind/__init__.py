"""Named reads for assessors: frozen, slotted dataclasses, and the only door to the database for their screens.

Nothing here joins runs, judges or LLM tables; what is not queried cannot leak.
"""
