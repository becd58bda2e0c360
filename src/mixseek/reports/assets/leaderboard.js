"use strict";
// The page works without this: it only remembers light or dark, and opens what the address names.
(() => {
  const root = document.documentElement;
  const setTheme = (theme) => { if (theme === "light" || theme === "dark") root.dataset.theme = theme; };
  // A page opened from disk may have no storage.
  try { setTheme(localStorage.getItem("mixseek-theme")); } catch { /* then it follows the system */ }
  setTheme(new URLSearchParams(location.search).get("theme"));
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    setTheme(isDark ? "light" : "dark");
    try { localStorage.setItem("mixseek-theme", root.dataset.theme); } catch { /* not remembered */ }
  });
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let element = target; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
