// What the server of the viewer answers, or one sentence that says why it does not.

/** The answer of a server that is there. */
async function fetchAnswer(path) {
  try {
    return await fetch(path);
  } catch {
    throw new Error(say("viewer.does_not_answer", "The viewer does not answer. Is mixseek view still running?"));
  }
}

/** Its document. A viewer that was started again has another key, and refuses in plain words. */
async function readDocument(answer) {
  if (answer.headers.get("Content-Type")?.startsWith("application/json")) return answer.json();
  const words = (await answer.text()).trim();
  throw new Error(answer.status === 403 ? say("viewer.was_started_again", "The viewer was started again since this page was opened: open the link that it has printed.") : words);
}
