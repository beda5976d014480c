"""Reading files, archives, packages and hub data sets into tables with the study's columns."""
