"""The roof: what config.yaml says, and what follows from it for every job."""
