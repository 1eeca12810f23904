"""Play a file as a camera does, on loopback: ``serve_stream.py PORT FILE [--rtsp] [--fast]``.

Run as a program, so that a test can kill it. The film is sent as MPEG-TS in real time unless
``--fast``: by HTTP, or by RTSP as RTP packets within the connection (RFC 2326, RFC 2250).
"""

import io
import socketserver
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av

PORT, FILE = int(sys.argv[1]), sys.argv[2]
TS_PACKETS = 7 * 188  # as many as fit one RTP packet on an Ethernet


def play(out):
    """Write the film to a file as its time comes."""
    with av.open(out, "w", format="mpegts") as container, av.open(FILE) as source:
        kept = source.streams[0]
        stream = container.add_stream_from_template(kept)
        begun = time.monotonic()
        for packet in source.demux(kept):
            if packet.dts is None:
                continue
            ahead = float(packet.dts * packet.time_base) - (time.monotonic() - begun)
            if ahead > 0 and "--fast" not in sys.argv:
                time.sleep(ahead)
            packet.stream = stream
            container.mux(packet)


class HttpPlayer(BaseHTTPRequestHandler):
    """Plays the film to everyone who asks."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "video/mp2t")
        self.end_headers()
        play(self.wfile)

    def log_message(self, *_):
        pass


class RtpFile(io.RawIOBase):
    """Sends what is written to it as RTP packets in an RTSP connection."""

    def __init__(self, connection):
        self.connection, self.number, self.rest = connection, 0, b""

    def writable(self):
        return True

    def write(self, data):
        self.rest += bytes(data)
        while len(self.rest) >= 188:
            payload = self.rest[: min(TS_PACKETS, len(self.rest) // 188 * 188)]
            self.rest = self.rest[len(payload) :]
            clock = int(time.monotonic() * 90_000) & 0xFFFFFFFF
            packet = struct.pack(">BBHII", 0x80, 33, self.number & 0xFFFF, clock, 1) + payload
            self.connection.write(struct.pack(">cBH", b"$", 0, len(packet)) + packet)
            self.number += 1
        return len(data)


class RtspPlayer(socketserver.StreamRequestHandler):
    """Answers an RTSP client, and plays the film to it."""

    def handle(self):
        while request := self.rfile.readline().decode().split():
            headers = {}
            while line := self.rfile.readline().decode().strip():
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            method, body = request[0], ""
            lines = [f"CSeq: {headers['cseq']}", "Session: 1"]
            if method == "OPTIONS":
                lines.append("Public: DESCRIBE, SETUP, PLAY, TEARDOWN")
            elif method == "DESCRIBE":
                body = (
                    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=film\r\nt=0 0\r\n"
                    "m=video 0 RTP/AVP 33\r\na=rtpmap:33 MP2T/90000\r\na=control:track\r\n"
                )
                lines += ["Content-Type: application/sdp", f"Content-Length: {len(body)}"]
            elif method == "SETUP":
                lines.append("Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
            answer = "\r\n".join(["RTSP/1.0 200 OK", *lines, "", body])
            self.wfile.write(answer.encode())
            if method == "PLAY":
                play(RtpFile(self.wfile))
                return


class RtspServer(socketserver.ThreadingTCPServer):
    """A server whose port is free again as soon as it is killed."""

    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    kinds = {True: (RtspServer, RtspPlayer), False: (ThreadingHTTPServer, HttpPlayer)}
    server, player = kinds["--rtsp" in sys.argv]
    server(("127.0.0.1", PORT), player).serve_forever()
