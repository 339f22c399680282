"""Writes of organizers, by the same services and planners as the pages and commands.

A view says what may be sent and what is answered; `base` checks it, sees to rights and keys, and calls the view's act.
"""
