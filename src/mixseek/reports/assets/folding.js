// What a response says on its way to the answer, folded: reasoning between its tags, and steps before the last one.

// Where a line begins, so that a text about such a tag is not folded.
const REASONING = /(?<=^|\n) *<((?:[a-z][\w.-]{0,20}:)?(?:think|thinking|thought|reasoning|scratchpad))>([^]*?)(?:<\/\1>|$)/i;
const STEP = /^(?:#{1,6} +|\*\*|- +)?(?:step|steg|étape|schritt|ステップ|步骤|第)\s*(\d{1,3})(?:\s*(?:步|段階))?(?!\w)/i;
// Two steps are read as quickly as they are opened.
const FEWEST_STEPS = 3;

/** Pieces of the text in their order, each with a title if it is folded. */
function foldedParts(text) {
  const reasoning = text.match(REASONING);
  if (!reasoning) return stepParts(text);
  const after = reasoning.index + reasoning[0].length;
  return [
    ...stepParts(text.slice(0, reasoning.index)),
    { title: say("judgment.reasoning", "Reasoning"), part: reasoning[2].trim() },
    ...foldedParts(text.slice(after)),
  ].filter(({ part }) => part.trim());
}

/** The last step stays open: it is where the answer stands. */
function stepParts(text) {
  const lines = text.split("\n");
  const steps = lines.flatMap((line, place) => (STEP.test(line.trimStart()) ? [place] : []));
  if (steps.length < FEWEST_STEPS) return [{ part: text }];
  const [first, last] = [steps[0], steps.at(-1)];
  const parts = [
    { part: lines.slice(0, first).join("\n") },
    { title: `${say("judgment.steps", "Steps")} 1–${countText(steps.length - 1)}`, part: lines.slice(first, last).join("\n") },
    { part: lines.slice(last).join("\n") },
  ];
  // A line of code that begins with "step" is no step: no fence is torn.
  return parts.every(({ part }) => (part.match(/```/g) ?? []).length % 2 === 0) ? parts.filter(({ part }) => part.trim()) : [{ part: text }];
}
