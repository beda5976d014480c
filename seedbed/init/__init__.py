"""The command `seedbed`: it writes a study of a person's own files, adds files to it, and checks it."""
