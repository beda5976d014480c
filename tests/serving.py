"""What every test server has in common."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from typing import Any, Self


class Serving(ThreadingHTTPServer):
    """Serves inside a `with` block, in a thread of its own."""

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()
