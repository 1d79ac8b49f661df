// Light or dark: as the system says, until the reader chooses.

import { byId } from "./dom.js";

function watchTheme() {
  const root = document.documentElement;
  const button = byId("theme");
  try {
    const chosen = localStorage.getItem("blade-theme");
    if (chosen) root.dataset.theme = chosen;
  } catch {
    // pages on disk may not remember
  }
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("blade-theme", root.dataset.theme);
    } catch {
      // nothing to do
    }
  });
}

watchTheme();
