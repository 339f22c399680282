"""Every file that Assay reads or writes, as pure functions: no Django, no database.

`source.read_source` opens a file; one module per family turns its lines into rows or raises `BadInput` with
every problem of the file; the writers give the same form back.
"""
