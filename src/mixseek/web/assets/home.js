// A list of runs that looks for news while anything runs; the choice of A and B stays.

const isWatching = document.querySelector(".state.running, .empty") !== null;

async function lookForNews(before) {
  const answer = await fetch("/api/workspace");
  const now = await answer.text();
  if (before !== null && now !== before) location.reload();
  else setTimeout(() => lookForNews(now), 3000);
}

if (isWatching) lookForNews(null);
