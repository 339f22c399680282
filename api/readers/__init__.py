"""Readers of what lies above the domain: jobs, measured times, and scores."""
