// One sample: what was asked and answered above, and every judge, repeat and attempt in a column of its own.

// Nothing is listed on this page, so nothing has to be fetched.
const source = { sampleAddress: () => null, labelControl: (row) => (row === rows[0] ? labelControl(row, () => reloadHere({ isNow: true })) : null) };

function describeAttempt(attempt) {
  const said = ["ask", "model", "finish_reason", "latency_seconds", "cost_usd", "tries", "batch", "saved_by_batch_usd", "saved_by_cache_usd"].filter((name) => attempt[name] !== undefined)
    .map((name) => `${name} ${attempt[name]}`);
  if (attempt.cached) said.push(say("judgment.from_the_cache", "from the cache"));
  for (const [name, value] of Object.entries(attempt.usage ?? {})) said.push(`${name} ${value}`);
  return said.join(" · ");
}

function attemptPart(attempt, number, row) {
  return make("details", { open: row.status === "invalid" && number === row.attempts.length },
    make("summary", {}, row.attempts.length > 1 ? `${say("judgment.raw_reply", "Raw reply")} ${number}` : say("judgment.raw_reply", "Raw reply"), " ", make("span", { class: "soft" }, describeAttempt(attempt))),
    textBlock("prose", attempt.text ?? ""));
}

function promptPart(row) {
  const holder = make("div", {});
  const show = async () => {
    const wanted = new URLSearchParams({ id: row.sample.id, judge: row.judge });
    const address = `${BASE}/api/runs/${encodeURIComponent(data.run)}/prompt?${wanted}`;
    const told = await fetchAnswer(address).then(readDocument).catch((error) => ({ error: error.message }));
    holder.replaceChildren(...(told.messages ?? [{ role: "–", content: told.error }]).map((message) =>
      make("details", { open: true }, make("summary", {}, message.role), textBlock("prose", message.content))));
  };
  holder.append(make("button", { type: "button", class: "text-button", onclick: show }, say("judgment.show_the_prompt", "Show the prompt")));
  return holder;
}

function column(row) {
  const article = make("article", { class: "detail judge-column", "aria-label": judgeText(row) });
  row.holder = article;
  article.append(...[
    make("header", { class: "detail-head" }, badge(row), make("h2", { class: "detail-id" }, ...nameNodes(judgeText(row)))),
    ...judgmentParts(row), ...timelineParts(row), responseSection(row),
    row.sample.response_b === undefined ? null : foldableForm(say("judgment.response_b", "Response B"), row.sample.response_b, row.sample.b_cut, true),
    ...row.attempts.map((attempt, place) => attemptPart(attempt, place + 1, row)),
    row.attempts.length ? promptPart(row) : null,
  ].filter(Boolean));
  return article;
}

function metadataPart(more) {
  const named = Object.entries(more.metadata ?? {}).map(([name, value]) => fact(name, ...visibleNodes(typeof value === "string" ? value : JSON.stringify(value))));
  return named.length ? make("dl", { class: "facts" }, ...named) : null;
}

listPage = `${BASE}/runs/${encodeURIComponent(data.run)}`;
// The list that this page was opened from, as its address says.
readAddress();
byId("back-to-list").href = addressOf();
const shown = rows[0].sample;
byId("sample").append(...[
  metadataPart(data.more),
  make("div", { class: "detail asked-part" }, ...[
    foldableForm(say("word.question", "Question"), shown.question, shown.question_cut, (shown.question ?? "").length <= 2000),
    foldableForm(say("word.ground_truth", "Ground truth"), [shown.truth, ...(shown.alternatives ?? [])].filter((text) => text !== undefined).join(" · "), 0, true),
    foldable(say("word.rubric", "Rubric"), data.more.rubric, 0, false),
  ].filter(Boolean)),
  make("div", { class: "judge-columns" }, ...rows.map(column)),
].filter(Boolean));
addEventListener("keydown", (event) => {
  if (event.key === "Escape") history.length > 1 ? history.back() : location.assign(addressOf());
});
