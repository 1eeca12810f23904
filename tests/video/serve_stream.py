"""Play a file as an endless-looking HTTP stream on loopback: ``serve_stream.py PORT FILE``.

Run as a program, so that a test can kill it. The packets come in real time unless ``--fast``.
"""

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av


class Player(BaseHTTPRequestHandler):
    """Plays the file to everyone who asks."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "video/mp2t")
        self.end_headers()
        with av.open(self.wfile, "w", format="mpegts") as out, av.open(sys.argv[2]) as source:
            stream = out.add_stream_from_template(source.streams[0])
            begun = time.monotonic()
            for packet in source.demux(source.streams[0]):
                if packet.dts is None:
                    continue
                ahead = float(packet.dts * packet.time_base) - (time.monotonic() - begun)
                if ahead > 0 and "--fast" not in sys.argv:
                    time.sleep(ahead)
                packet.stream = stream
                out.mux(packet)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Player).serve_forever()
