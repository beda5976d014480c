"""Tools that inspect a study from outside: jobs, forecast, status, stale state, verification."""
