"""What looks at a study from outside: jobs, forecast, status, leftovers."""
