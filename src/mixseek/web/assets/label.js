// A label given beside an open judgment. Whoever gives it has seen what judges say, and has looked for this text: it is
// kept as chosen, and enters no number.

const LABELLING = `${BASE}/api/runs/${encodeURIComponent(data.run)}/review`;
const mayLabel = document.querySelector(".viewer-bar[data-read-only]") === null;

/** The answer, however long it is being made; raises what the server refuses. */
async function askLabels(path, options = {}) {
  for (;;) {
    const answer = await fetchAnswer(`${LABELLING}${path}`, options);
    if (answer.status !== 202) return readDone(answer);
    await new Promise((done) => setTimeout(done, 250));
  }
}

const postLabels = (path, body) => askLabels(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** What the rater has said of the text, and how to take it back. One of a queue is taken back there: it may correct a number. */
function ownLabel({ own }, rater, labelled, refused) {
  if (!own) return null;
  const takeBack = () => postLabels("/retractions", { id: newId(), rater, retracts: own.id }).then(labelled).catch(refused);
  const canBeTaken = own.id && own.queue === "";
  return make("p", { "data-own": own.given }, say("review.you_said", "You said"), " ", make("b", {}, ...nameNodes(verdictText(own.given))), " ",
    canBeTaken ? make("button", { type: "button", class: "text-button", "data-take-back": "", onclick: takeBack }, say("judgment.take_it_back", "Take it back"))
      : make("span", { class: "soft" }, say("judgment.given_elsewhere", "(given in a queue or a file, and taken back there)")));
}

/** The form of the protocol, and the rater's name above it; `labelled` is done when the label is on disk. */
async function labelBox(text, labelled) {
  const name = make("input", { value: keptRater(), maxlength: 100, autocomplete: "nickname", required: true, "data-rater": "" });
  const notice = make("p", { role: "alert", hidden: true });
  // What is sent again after a refusal is the same label.
  const id = newId();
  const refused = (error) => { Object.assign(notice, { hidden: false, textContent: error.message }); };
  const give = async (answer) => {
    const rater = plainName(name.value);
    if (!rater) { name.focus(); return; }
    keepRater(rater);
    await postLabels("/labels", { id, queue: "", text, rater, is_open: true, ...answer }).then(labelled).catch(refused);
  };
  const asked = keptRater();
  const item = await askLabels(`/item?${new URLSearchParams({ queue: "", text, rater: asked, open: "yes" })}`);
  const own = ownLabel(item, asked, labelled, refused);
  // Another name has said something else.
  name.addEventListener("input", () => { if (own) own.hidden = plainName(name.value) !== asked; });
  return make("div", { class: "label-box" }, own, make("label", {}, say("review.your_name", "Your name"), " ", name), labelForm(item.form, give).element, notice,
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
