"""The whole database in one file, taken while people work, and put back."""
