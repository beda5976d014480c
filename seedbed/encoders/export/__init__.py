"""An encoder as a folder, and its card."""
