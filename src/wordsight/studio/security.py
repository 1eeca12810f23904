"""Who may ask what: the checks every request passes before anything else looks at it.

A page of another site must not be able to act in the studio of whoever opens it. Browsers tell
where an unsafe request comes from; one that comes from elsewhere is refused, as is one for another
host name, which a rebound name would show. Programs that are no browsers send neither.
"""

import secrets
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wordsight.studio.settings import StudioSettings, is_loopback

__all__ = ["Guard"]

COOKIE = "wordsight_token"
_PICTURES = ("/api/v1/attributes/", "/api/v1/search")
_PICTURE_BYTES = 140 << 20  # some pictures and a recording, or a ranking and judgements
_FILES = ("/api/v1/states/learn", "/api/v1/convert")
_FILES_BYTES = 512 << 20  # labels and boxes of many films
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
        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | RedirectResponse | None:
        headers = Headers(scope=scope)
        if not self._known_host(headers.get("host", "")):
            return PlainTextResponse("This host name is not the studio's.", 400)
        if scope["method"] not in _SAFE and not _same_site(headers):
            return PlainTextResponse("A page of another site may not act here.", 403)
        if self._settings.token is not None:
            refusal = self._token_refusal(scope, headers)
            if refusal is not None:
                return refusal
        return self._size_refusal(scope, headers)

    def _known_host(self, host: str) -> bool:
        name = urlsplit(f"//{host}").hostname or ""
        # Who listens elsewhere is protected by the token; names differ from network to network.
        return is_loopback(name) or not is_loopback(self._settings.host) or name == "testserver"

    def _token_refusal(
        self, scope: Scope, headers: Headers
    ) -> PlainTextResponse | RedirectResponse | None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if given and self._is_token(given):
            answer = RedirectResponse(scope["path"], 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return answer
        cookies = SimpleCookie(headers.get("cookie", ""))
        kept = cookies[COOKIE].value if COOKIE in cookies else ""
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
        path = scope["path"]
        most = self._settings.max_body
        if path.startswith("/api/v1/uploads"):
            most = self._settings.max_upload
        elif path.startswith(_PICTURES):
            most = max(most, _PICTURE_BYTES)
        elif path.startswith(_FILES) or path.endswith("/look"):
            most = max(most, _FILES_BYTES)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            return PlainTextResponse(f"Too large: at most {most:,} bytes are taken.", 413)
        return None


def _as_asked(refusal: Response, scope: Scope) -> Response:
    """Programs read JSON, people read text."""
    if not isinstance(refusal, PlainTextResponse) or not scope["path"].startswith("/api/"):
        return refusal
    return JSONResponse({"detail": bytes(refusal.body).decode()}, refusal.status_code)


def _same_site(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
