"""Acts of an assessor at a desk. Every function takes public ids and the user, and returns receipts."""
