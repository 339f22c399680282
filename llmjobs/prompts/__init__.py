"""What an LLM is asked, in our own words: one versioned template per task."""
