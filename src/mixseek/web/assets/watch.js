// A competition that is being played: a round more, and the page is made anew where the reader was.

const watching = document.getElementById("watching");

async function lookForRounds(before) {
  const answer = await fetch(watching.dataset.address);
  const now = await answer.text();
  if (before !== null && now !== before) reloadHere();
  else setTimeout(() => lookForRounds(now), 2000);
}

if (watching) lookForRounds(null);
