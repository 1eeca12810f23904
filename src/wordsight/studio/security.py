"""Who may ask what: the checks every request passes before anything else looks at it.

A page of another site must not be able to act in the studio of the user who opens it. Browsers say
where a request comes from; one that comes from elsewhere is refused, unless it only opens a page,
as is one for another host name, which a rebound name would show. Programs that are no browsers send
neither.
"""

import secrets
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wordsight.studio.server import StudioSettings, is_loopback

__all__ = ["Guard", "body_limit", "is_from_elsewhere"]

COOKIE = "wordsight_token"
_PICTURES = 140 << 20  # some pictures and a recording, or a ranking and judgements
_FILES = 512 << 20  # labels and boxes of many films
_LIMITS = {
    "/api/v1/attributes/": _PICTURES,
    "/api/v1/search": _PICTURES,
    "/parts/search": _PICTURES,
    "/api/v1/states/learn": _FILES,
    "/api/v1/convert": _FILES,
}
_UPLOADS = "/api/v1/uploads"
_LOOK = "/look"  # how the address ends that takes boxes and captions of one video
_SAFE = {"GET", "HEAD", "OPTIONS"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " media-src 'self' blob:; object-src 'none'; base-uri 'none';"
        " frame-ancestors 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(self), geolocation=()",
}


class Guard:
    """Checks host, origin, token and size, and adds the headers that keep pages apart.

    Args:
        app: What is guarded.
        settings: Host, token and sizes.
    """

    def __init__(self, app: ASGIApp, settings: StudioSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _as_asked(refusal, scope)(scope, receive, send_with_headers)
            return
        most = body_limit(scope["path"], self._settings)
        if scope["method"] != "HEAD":
            await self._app(scope, _limited(receive, most), send_with_headers)
            return
        with suppress(_HeadSent):
            await self._app({**scope, "method": "GET"}, receive, _head_of(send_with_headers))

    def _refusal(self, scope: Scope) -> PlainTextResponse | RedirectResponse | None:
        headers = Headers(scope=scope)
        if not self._known_host(headers.get("host", "")):
            return PlainTextResponse("This host name is not the studio's.", 400)
        if is_from_elsewhere(headers) and not _opens_a_page(scope, headers):
            return PlainTextResponse("A page of another site may not act here.", 403)
        if self._settings.token is not None:
            refusal = self._token_refusal(scope, headers)
            if refusal is not None:
                return refusal
        return self._size_refusal(scope, headers)

    def _known_host(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # brackets that are no address
            return False
        # Who listens elsewhere is protected by the token; names differ from network to network.
        return is_loopback(name) or not is_loopback(self._settings.host)

    def _token_refusal(
        self, scope: Scope, headers: Headers
    ) -> PlainTextResponse | RedirectResponse | None:
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        given = dict(asked).get("token", "")
        if given and self._is_token(given):
            rest = urlencode([(name, value) for name, value in asked if name != "token"])
            # Two slashes would begin the name of another host.
            place = "/" + scope["path"].lstrip("/\\")
            answer = RedirectResponse(f"{place}?{rest}" if rest else place, 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return answer
        kept = _cookie(headers.get("cookie", ""), COOKIE)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(kept) or self._is_token(bearer):
            return None
        return PlainTextResponse(
            "This studio asks for its token: open the address it printed when it started.", 401
        )

    def _is_token(self, given: str) -> bool:
        known = self._settings.token or ""
        return secrets.compare_digest(given.encode(), known.encode())

    def _size_refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        most = body_limit(scope["path"], self._settings)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > most:
            return PlainTextResponse(_too_large(most), 413)
        return None


class _HeadSent(Exception):
    """All that was asked for is sent."""


def _head_of(send: Send) -> Send:
    """Send what a GET answers without its body, which is not even read."""

    async def head(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            raise _HeadSent
        await send(message)

    return head


def body_limit(path: str, settings: StudioSettings) -> int:
    """Return how many bytes the body of a request to an address may have."""
    if path.startswith(_UPLOADS):
        return settings.max_upload
    named = (most for beginning, most in _LIMITS.items() if path.startswith(beginning))
    most = _FILES if path.endswith(_LOOK) else next(named, 0)
    return max(settings.max_body, most)


def _limited(receive: Receive, most: int) -> Receive:
    """Count what comes in, since a body that is sent in pieces does not say how long it is."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _too_large(most))
        return message

    return counted


def _too_large(most: int) -> str:
    return f"Too large: at most {most:,} bytes are taken."


def _cookie(header: str, name: str) -> str:
    """Return the value of a cookie; what other pages of this host left beside it may be anything.

    Python's own reader gives up at the first cookie that is not written by the book.
    """
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return next((value.strip('"') for key, _, value in pairs if key == name), "")


def _as_asked(refusal: Response, scope: Scope) -> Response:
    """Programs read JSON, people read text."""
    if not isinstance(refusal, PlainTextResponse) or not scope["path"].startswith("/api/"):
        return refusal
    return JSONResponse({"detail": bytes(refusal.body).decode()}, refusal.status_code)


def is_from_elsewhere(headers: Headers) -> bool:
    """Tell whether a page of another site asks, as browsers say of every request."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _opens_a_page(scope: Scope, headers: Headers) -> bool:
    """Tell whether a request only follows a link to a page, which begins nothing."""
    if scope["method"] not in _SAFE or scope["path"].startswith(("/api/", "/parts/")):
        return False
    return headers.get("sec-fetch-mode", "navigate") == "navigate"
