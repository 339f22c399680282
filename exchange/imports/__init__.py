"""Imports by the wizard: files are kept, tried out, shown, and then loaded, by the services that the commands use."""
