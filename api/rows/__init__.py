"""Fields of each collection: one declaration for JSON, JSON lines, CSV and the OpenAPI schema.

The rows themselves are made by the readers; a test compares the two.
"""
