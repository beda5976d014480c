"""`python -c CODE ...` for `tests.warm`, which forks for modules alone: python -m tests.snippet CODE ..."""

import sys

if __name__ == "__main__":
    del sys.argv[0]
    exec(compile(sys.argv[0], "<snippet>", "exec"), {"__name__": "__main__"})
