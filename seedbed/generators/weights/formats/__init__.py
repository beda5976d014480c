"""Formats of files that hold a whole model: each file of this folder converts one."""
