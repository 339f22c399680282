"""Assessors at work at their desks."""
