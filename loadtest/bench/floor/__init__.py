"""The least that a save can cost in Django: a session, the CSRF check, and one upsert, on our database settings."""
