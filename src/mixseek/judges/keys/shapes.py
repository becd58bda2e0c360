"""What a key looks like, by the name that it stands under or by itself."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

_CREDENTIAL_NAME = re.compile(
    r"authorization|api[-_]?key|secret|token(?!s|izer|_id)|password|passwd|credential|cookie|signature|(^|[-_])(key|auth|sig)$",
    re.IGNORECASE,
)
# How providers begin theirs, a token of three parts, and what stands behind the name of a scheme. A digit, or a key
# would be seen in `sk-learn-server`; bounds, or a long text of beginnings would be looked through from each of them.
_KEY_SHAPE = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk)-(?=[\w-]{0,200}\d)[\w-]{8,200}"
    r"|(?:gsk|csk|xai|pplx|nvapi|glpat)[-_](?=[\w-]{0,200}\d)[\w-]{12,200}"
    r"|(?:hf|r8|fw|tgp|gh[porsu]|github_pat)_(?=\w{0,200}\d)\w{12,200}"
    r"|AIza[\w-]{16,200}|A[KS]IA[A-Z0-9]{12,200}|ya29\.[\w-]{8,200}|eyJ[\w-]{8,2000}\.[\w-]{4,200}"
    r"|[Bb]earer\s{1,3}[\w.~+/=-]{8,200}|[Bb]asic\s{1,3}[\w+/]{6,200}={1,2})"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9]{20,}")
# Of neighbouring characters in a random text of letters and digits, so many are of two kinds; in words, far fewer.
_MIXED_SHARE = 0.4
_FROM_ENVIRONMENT = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def looks_like_credential(name: str) -> bool:
    """True for names of headers, query parameters and body fields whose value is nobody's business."""
    return bool(_CREDENTIAL_NAME.search(name))


def looks_like_key(value: str) -> bool:
    """True for what begins as providers' keys do, and for long runs of letters and digits that no one has typed.

    Hexadecimal digits are not enough: accounts in addresses and digests of users are written with them.
    """
    return bool(_KEY_SHAPE.search(value)) or any(_is_random(run[0]) for run in _LONG_RUN.finditer(value))


def _is_random(run: str) -> bool:
    kinds = ["d" if letter.isdigit() else "u" if letter.isupper() else "l" for letter in run]
    changes = sum(kind != following for kind, following in pairwise(kinds))
    return len(set(kinds)) == 3 and changes >= _MIXED_SHARE * (len(run) - 1)


def names_variable(header: str) -> str | None:
    """The environment variable that a header's value `$NAME` stands for; None for a value that is sent as it is."""
    reference = _FROM_ENVIRONMENT.fullmatch(header)
    return None if reference is None else reference[1]


def without_credentials(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document with credential-looking entries left out, at any depth."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [cleaned(item) for item in value]
        return without_credentials(value) if isinstance(value, Mapping) else value

    return {str(name): cleaned(value) for name, value in document.items() if not looks_like_credential(str(name))}
