"""Formats of files that contain a whole model: each module of this folder converts one."""
