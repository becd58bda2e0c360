// What the server of the viewer answers, or one sentence that says why it does not.

/** The answer of a server that is there. */
async function fetchAnswer(path, options = {}) {
  try {
    return await fetch(path, options);
  } catch {
    const words = say("viewer.does_not_answer", "The viewer does not answer. Is mixseek view still running?");
    throw Object.assign(new Error(words), { isGone: true });
  }
}

/** Its document. A viewer that was started again has another key, and refuses in plain words. */
async function readDocument(answer) {
  if (answer.headers.get("Content-Type")?.startsWith("application/json")) return answer.json();
  const words = (await answer.text()).trim();
  const isStranger = answer.status === 403 && words.startsWith("mixseek: open the link");
  const told = isStranger ? say("viewer.was_started_again", "The viewer was started again since this page was opened: open the link that it has printed.") : words;
  throw Object.assign(new Error(told), { status: answer.status });
}

/** The document of what was done; raises what the server refuses. */
async function readDone(answer) {
  const document = await readDocument(answer);
  if (!answer.ok) throw Object.assign(new Error(document.error), { status: answer.status });
  return document;
}

/** One line above a page that asks by itself, for as long as nobody answers it; without words it goes. */
function tellLost(words = "") {
  const line = document.getElementById("lost");
  if (!words) line?.remove();
  else if (line?.textContent === words) return;
  else if (line) line.textContent = words;
  else document.querySelector("main").prepend(make("p", { class: "problem-line", id: "lost", role: "alert" }, words));
}
