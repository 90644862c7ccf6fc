// The menu of exports: a button that opens a short list of files.

import { button, download, el, icon } from "./common.js";

/** `items` are [words, name of the file, () => its text]. */
export function exportMenu(label, items) {
  const close = () => { menu.open = false; };
  const save = (name, text) => { download(name, text, menu); close(); menu.firstChild.focus(); };
  const menu = el("details", { class: "mb-menu" }, el("summary", { class: "ml-button" }, icon("copy"), label),
    el("div", { class: "mb-menu-items" }, items.map(([words, name, make]) => button({ text: words, onclick: () => save(name(), make()) }))));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.firstChild.focus();
    event.stopPropagation();
  });
  menu.addEventListener("focusout", (event) => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) close(); });
  return menu;
}
