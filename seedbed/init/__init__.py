"""The command `seedbed`: it writes a study for a person's files, adds files to it, and checks it."""
