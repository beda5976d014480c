"""From anybody's files and the hub to tables of the study's columns."""
