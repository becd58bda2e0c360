// A list of runs that looks for news, quicker while anything runs: one that starts later appears by itself.

const isHome = document.querySelector("#runs, .empty, #competitions") !== null;

/** The choice of A and B stays: only what the list says is replaced. */
function replaceLists(text) {
  const chosen = [...document.querySelectorAll("#runs input:checked")].map((input) => [input.name, input.value]);
  document.querySelector("main").replaceWith(new DOMParser().parseFromString(text, "text/html").querySelector("main"));
  for (const [name, value] of chosen) {
    const same = [...document.querySelectorAll(`#runs input[name="${name}"]`)].find((input) => input.value === value);
    if (same) same.checked = true;
  }
}

async function lookForNews(before) {
  // A page that nobody looks at asks nothing; a server that is gone is asked again.
  if (document.hidden) return setTimeout(() => lookForNews(before), 3000);
  const now = await fetch(`${BASE}/api/workspace`).then((answer) => (answer.ok ? answer.text() : before)).catch(() => before);
  if (before !== null && now !== before) await fetch(location.href).then((page) => page.text()).then(replaceLists).catch(() => null);
  return setTimeout(() => lookForNews(now), document.querySelector(".state.running, .empty") ? 3000 : 5000);
}

if (isHome) lookForNews(null);
