// Where the viewer begins: before a proxy it may stand below a path of its own, which our own address tells.

const BASE = new URL(document.currentScript.src).pathname.replace(/\/assets\/[^/]*$/, "");
