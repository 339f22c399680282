"""Reads for programs: whole collections as plain rows, a chunk at a time, of what the viewer may see.

A reader names the rows that a viewer may see and tells them in chunks, each with a fixed number of queries. People
leave under their pseudonyms only (`names`).
"""
