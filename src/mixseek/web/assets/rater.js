// Who labels. The rater's name is a cookie, because those do not know ports: the next server may have another one.

const plainName = (name) => name.trim().replace(/\s+/g, " ");
const keptRater = () => decodeURIComponent(/(?:^|; )mixseek-rater=([^;]*)/.exec(document.cookie)?.[1] ?? "");

function keepRater(name) {
  document.cookie = `mixseek-rater=${encodeURIComponent(name)}; path=${BASE}/; max-age=31536000; samesite=strict`;
}

/** 32 hex digits. `randomUUID` is not there on a page without encryption of another machine. */
const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
