// A label given beside an open judgment. Whoever gives it has seen what judges say, and has looked for this text: it is
// kept as chosen, and enters no number.

const LABELLING = `${BASE}/api/runs/${encodeURIComponent(data.run)}/review`;
const mayLabel = document.querySelector(".viewer-bar[data-read-only]") === null;

/** The answer, however long it is being made; raises what the server refuses. */
async function askLabels(path, options = {}) {
  for (;;) {
    const answer = await fetch(`${LABELLING}${path}`, options);
    if (answer.status !== 202) {
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
      const document = isJson ? await answer.json() : { error: (await answer.text()).trim() };
      if (!answer.ok) throw new Error(document.error);
      return document;
    }
    await new Promise((done) => setTimeout(done, 250));
  }
}

/** The form of the protocol, and the rater's name above it; `labelled` is done when the label is on disk. */
async function labelBox(text, labelled) {
  const name = make("input", { value: keptRater(), maxlength: 100, autocomplete: "nickname", required: true, "data-rater": "" });
  const notice = make("p", { role: "alert", hidden: true });
  // What is sent again after a refusal is the same label.
  const id = newId();
  const give = async (answer) => {
    const rater = plainName(name.value);
    if (!rater) { name.focus(); return; }
    keepRater(rater);
    try {
      const body = JSON.stringify({ id, queue: "", text, rater, is_open: true, ...answer });
      await askLabels("/labels", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      labelled();
    } catch (error) { Object.assign(notice, { hidden: false, textContent: error.message }); }
  };
  const item = await askLabels(`/item?${new URLSearchParams({ queue: "", text, rater: keptRater(), open: "yes" })}`);
  return make("div", { class: "label-box" }, make("label", {}, say("review.your_name", "Your name"), " ", name), labelForm(item.form, give).element, notice,
    make("p", { class: "soft" }, say("judgment.a_label_given_here_is_chosen", "A label given here is kept as chosen, not drawn: it stands in lists and matrices, and corrects no number.")));
}

/** Where a label can be given or changed; nothing where the text has no name yet, or nothing may be changed. */
function labelControl(row, labelled) {
  const { text, people } = row.sample;
  if (!mayLabel || text === undefined) return null;
  const holder = make("div", { "data-label": text });
  const open = async () => {
    try {
      holder.replaceChildren(await labelBox(text, labelled));
      holder.querySelector("input, button").focus();
    } catch (error) { holder.replaceChildren(make("p", { role: "alert" }, error.message)); }
  };
  holder.append(make("button", { type: "button", class: "action", "data-give-label": "", onclick: open },
    people === undefined ? say("judgment.give_a_label", "Give a label") : say("judgment.give_or_change_a_label", "Give or change a label")));
  return holder;
}
