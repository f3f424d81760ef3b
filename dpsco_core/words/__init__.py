"""What people read of methods and of errors in print: TOML files, checked when they are loaded.

`methods/FAMILY/NAME.toml` is the story of the method FAMILY.NAME, `errata/PAPER.toml` what was
found in a paper. No file is opened before somebody asks for its text.
"""
