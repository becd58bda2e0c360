// A competition that is being played: a round more, and the page is made anew where the reader was.

const watching = document.getElementById("watching");

async function lookForRounds(before) {
  let now = before;
  try {
    now = JSON.stringify(await fetchAnswer(watching.dataset.address).then(readDone));
    tellLost();
  } catch (error) { tellLost(error.message); }
  if (before !== null && now !== before) reloadHere();
  else setTimeout(() => lookForRounds(now), 2000);
}

if (watching) lookForRounds(null);
