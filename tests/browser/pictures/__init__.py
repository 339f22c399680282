"""The pictures of the documents, drawn from the demo."""

FOLDER = "PICTURES"
"""Environment variable with the folder to draw into; without it the test draws into one of its own."""
