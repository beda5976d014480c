"""Selection of texts: language identification, decontamination, sampling."""
