"""A small OpenID Connect provider of one's own: discovery, codes with PKCE, RS256 tokens, userinfo. No Django here.

It signs in whoever `person` says, without a question. What it was asked is kept in `requests`.
"""

import base64
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

CLIENT, SECRET = "assay", "a secret between the two"
KEY_ID = "one"
LIFE = 300


@dataclass
class Provider:
    address: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def discovery(self) -> dict[str, Any]:
        paths = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.address,
            "jwks_uri": f"{self.address}/keys",
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            **{f"{name}_endpoint": f"{self.address}/{path}" for name, path in paths.items()},
        }

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": KEY_ID, "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        self.requests.append(query)
        wanted = (query["client_id"], query["response_type"], query["code_challenge_method"])
        if wanted != (CLIENT, "code", "S256") or "openid" not in query["scope"].split():
            raise PermissionError("no such client, or no PKCE")
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        begun = self.codes.pop(form["code"])
        challenge = base64.urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if (form["client_id"], form["client_secret"]) != (CLIENT, SECRET):
            raise PermissionError("no such client")
        if challenge != begun["code_challenge"] or form["redirect_uri"] != begun["redirect_uri"]:
            raise PermissionError("not the one that began")
        access, now = secrets.token_urlsafe(), int(time.time())
        self.tokens[access] = self.person
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + LIFE, **self.person}
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": KEY_ID})
        return {"access_token": access, "token_type": "Bearer", "expires_in": LIFE, "id_token": signed}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/openid-configuration":
            self._json(self.provider.discovery())
        elif parts.path == "/keys":
            self._json(self.provider.keys())
        elif parts.path == "/userinfo":
            self._json(self.provider.tokens[self.headers["Authorization"].removeprefix("Bearer ")])
        elif parts.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.provider.authorize(query))
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        try:
            self._json(self.provider.token(form))
        except (KeyError, PermissionError) as error:
            self._json({"error": "invalid_grant", "error_description": str(error)}, 400)

    def _json(self, content: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextmanager
def running_provider() -> Iterator[Provider]:
    provider = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": provider}))
    provider.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
