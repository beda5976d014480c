"""What an encoder is made of, and how a folder becomes one."""
