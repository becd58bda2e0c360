"""Text files as people's editors save them."""


def decode_text(data: bytes) -> str:
    """UTF-8 to the letter, but for the byte-order mark that Windows editors put first and TOML does not know.

    Raises UnicodeDecodeError; its offsets count the mark (the codec `utf-8-sig` would not).
    """
    return data.decode().removeprefix("\ufeff")
