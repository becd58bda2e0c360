// What is asked about a text: one key for each verdict or value, the same by touch and by mouse.

const TONES = { correct: "good", incorrect: "bad" };

function keyMark(key) {
  return make("kbd", {}, key);
}

/** Nothing has the focus at first: Enter, pressed once too often, must not be a verdict. `give` is called with the part of the label that the form is about. */
function verdictForm(form, give) {
  const keys = new Map();
  const buttons = form.options.map((option) => {
    const pick = () => give({ verdict: option.value });
    for (const key of option.keys) keys.set(key, pick);
    return make("button", { type: "button", class: `verdict-button tone-${TONES[option.value] ?? "mixed"}`, "data-verdict": option.value, onclick: pick },
      verdictText(option.value), keyMark(option.keys[0]));
  });
  return { element: make("div", { class: "verdicts", role: "group", "aria-label": say("review.your_label", "Your label") }, ...buttons), keys, first: null };
}

function valueControl(dimension, values, changed) {
  const { name, minimum, maximum } = dimension;
  if (!dimension.has_keys) {
    const input = make("input", { type: "number", min: minimum, max: maximum, step: dimension.is_whole ? 1 : "any", inputmode: "decimal", "data-value": "", "aria-label": dimension.title });
    input.addEventListener("input", changed);
    return { element: input, focus: () => input.focus(), read: () => (input.value === "" ? null : Number(input.value)), clear: () => { input.value = ""; }, set: null };
  }
  const radios = [];
  for (let value = minimum; value <= maximum; value += 1) {
    const radio = make("input", { type: "radio", name: `mark-${name}`, value: String(value), "data-value": String(value) });
    radio.addEventListener("change", changed);
    radios.push(radio);
  }
  const element = make("div", { class: "values", role: "radiogroup", "aria-label": dimension.title },
    ...radios.map((radio) => make("label", { title: values[radio.value] ?? "" }, radio, make("span", {}, radio.value))));
  return {
    element,
    focus: () => (radios.find((radio) => radio.checked) ?? radios[0]).focus(),
    read: () => { const chosen = radios.find((radio) => radio.checked); return chosen ? Number(chosen.value) : null; },
    clear: () => { for (const radio of radios) radio.checked = false; },
    set: (value) => { const radio = radios.find((one) => one.value === value); if (radio) { radio.checked = true; changed(); } return Boolean(radio); },
  };
}

function saveButton(save) {
  return make("button", { type: "button", class: "action save", "data-save": "", onclick: save }, say("review.save", "Save"), keyMark("Enter"));
}

function marksForm(form, give) {
  const keys = new Map();
  const total = make("p", { class: "form-total", "data-total": "" });
  const gates = form.gates.map((gate, place) => {
    const box = make("input", { type: "checkbox", "data-gate": gate.name });
    const flip = () => { box.checked = !box.checked; changed(); };
    box.addEventListener("change", () => changed());
    keys.set(place ? String.fromCharCode(97 + place) : "g", flip);
    return { gate, box, element: make("label", { class: "gate" }, box, make("span", {}, ...visibleNodes(gate.name)), place ? null : keyMark("g"), gate.description ? make("span", { class: "soft" }, gate.description) : null) };
  });
  const isFailed = () => gates.some(({ box }) => box.checked);
  const parts = form.dimensions.map((dimension) => ({ dimension, control: valueControl(dimension, form.values, () => changed()) }));
  const values = () => parts.map(({ control }) => control.read());
  const isComplete = () => isFailed() || values().every((value) => value !== null);
  const save = () => {
    if (!isComplete()) return next();
    const marks = {};
    parts.forEach(({ dimension, control }) => { const value = control.read(); if (value !== null) marks[dimension.name] = value; });
    for (const { gate, box } of gates) if (box.checked) marks[gate.name] = 1;
    return give({ marks });
  };
  const button = saveButton(save);
  const elements = parts.map(({ dimension, control }) => make("fieldset", { class: "dimension", "data-dimension": dimension.name },
    make("legend", {}, dimension.title, " ", make("span", { class: "soft" }, `${plainNumber(dimension.minimum)}–${plainNumber(dimension.maximum)}`)),
    dimension.description ? make("p", { class: "soft" }, dimension.description) : null, control.element));
  const current = () => {
    const focused = elements.findIndex((element) => element.contains(document.activeElement));
    return focused >= 0 ? focused : values().indexOf(null);
  };
  const next = () => {
    const open = values().indexOf(null);
    if (open >= 0) parts[open].control.focus();
    else button.focus();
  };
  function changed() {
    total.textContent = isComplete() ? "" : `${values().filter((value) => value !== null).length} ${say("word.of", "of")} ${parts.length}`;
    button.disabled = !isComplete();
  }
  for (const key of "0123456789") {
    keys.set(key, () => {
      const place = current();
      if (place < 0 || !parts[place].control.set?.(key)) return;
      next();
    });
  }
  keys.set("Enter", save);
  changed();
  const element = make("div", { class: "marks-form", role: "group", "aria-label": say("review.your_label", "Your label") }, ...elements, ...gates.map((gate) => gate.element), total, button);
  // Typed numbers begin in the first field; single keys need no focus.
  return { element, keys, first: form.dimensions[0].has_keys ? null : { focus: () => parts[0].control.focus() } };
}

function totalForm(form, give) {
  const title = joinWords([say("word.total", "Total"), `${plainNumber(form.minimum)}–${plainNumber(form.maximum)}`]);
  const input = make("input", { type: "number", min: form.minimum, max: form.maximum, step: "any", inputmode: "decimal", "data-value": "" });
  const save = () => (input.value === "" ? input.focus() : give({ total: Number(input.value) }));
  return { element: make("div", { class: "marks-form" }, make("label", { class: "dimension" }, title, input), saveButton(save)), keys: new Map([["Enter", save]]), first: input };
}

/** Which steps are right and which wrong, for whoever wants to say it: nobody has to. */
function stepsForm(count) {
  const choice = (number, value, words) => {
    const radio = make("input", { type: "radio", name: `step-${number}`, value, "data-step-mark": value });
    if (value === "") radio.checked = true;
    return make("label", {}, radio, make("span", {}, words));
  };
  const lines = Array.from({ length: count }, (_, place) => {
    const number = String(place + 1);
    return make("div", { class: "values step-line", role: "radiogroup", "aria-label": say("steps.step_n", "Step {n}", { n: number }), "data-step-line": number },
      make("b", {}, number), choice(number, "", "–"), choice(number, "1", say("steps.right", "right")), choice(number, "0", say("steps.wrong", "wrong")));
  });
  const element = make("details", { class: "step-form" }, make("summary", {}, say("steps.label_steps", "Label steps, too")), ...lines);
  const read = () => Object.fromEntries(lines.map((line) => [line.dataset.stepLine, line.querySelector("input:checked").value])
    .filter(([, value]) => value !== "").map(([number, value]) => [number, Number(value)]));
  return { element, read };
}

function labelForm(form, give) {
  const makeForm = { verdict: verdictForm, marks: marksForm, total: totalForm }[form.kind];
  if (!form.steps) return makeForm(form, give);
  const steps = stepsForm(form.steps);
  const whole = makeForm(form, (answer) => give({ ...answer, steps: steps.read() }));
  return { ...whole, element: make("div", {}, steps.element, whole.element) };
}
