"""Study: the settings in config.yaml, and the jobs that follow from them."""
