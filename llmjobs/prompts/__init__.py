"""Prompts in our own words: one versioned template per task."""
