"""What an assessor does at a desk. Every function takes public ids and the user, and returns receipts."""
