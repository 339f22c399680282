"""LLM jobs while everything that they need fails."""
