// The foot of TrafficView: step buttons, a scrubber with a tick a message, "hide later".

import { button, el, fill, grouped, serverClass, svg } from "./common.js";
import { isWrong } from "./record.js";
import T from "./text/traffic.json" with { type: "json" };

const S = T.step;
const MOST_TICKS = 200;

/** The strip below the messages; `update()` draws what changed. */
export function foot(state, store) {
  const slider = el("input", { type: "range", class: "mt-slider", min: "1", "aria-label": S.slider, on: { input: () => state.stepTo(Number(slider.value)) } });
  const ticks = svg("svg", { class: "mt-ticks", viewBox: "0 0 1000 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  const where = el("span", { class: "mt-where", "aria-live": "polite" });
  const hide = button({ icon: "eyeOff", text: S.hide, class: "mt-hide", onclick: () => state.setHideLater(!state.hideLater) });
  hide.title = S.hideHint;
  const steps = [["first", () => state.stepTo(1)], ["previous", () => state.stepBy(-1)], ["next", () => state.stepBy(1)], ["last", () => state.stepTo(Infinity)]]
    .map(([name, onclick]) => button({ icon: name, label: S[name], class: "mt-step", onclick }));
  const node = el("div", { class: "mt-foot" }, el("div", { class: "mt-steps" }, steps), el("div", { class: "mt-scrub" }, ticks, slider), where, hide);
  let drawn = "";
  return {
    node,
    update() {
      const [n, all] = [state.position(), state.all.length];
      node.hidden = all === 0;
      slider.max = String(Math.max(all, 1));
      slider.value = String(n);
      slider.style.setProperty("--done", `${all > 1 ? ((n - 1) / (all - 1)) * 100 : 100}%`);
      const said = fill(S.at, { n: grouped(n), all: grouped(all) });
      if (where.textContent !== said) where.textContent = said;
      slider.setAttribute("aria-valuetext", said);
      steps[0].disabled = steps[1].disabled = n <= 1;
      steps[2].disabled = n >= all;
      steps[3].disabled = state.at === null;
      hide.setAttribute("aria-pressed", String(state.hideLater));
      const now = `${state.hideLater ? n : ""} ${state.all[0]?.seq} ${state.all.at(-1)?.seq} ${all} ${state.all.reduce((sum, entry) => sum + entry.flags.length, 0)}`;
      if (now !== drawn) drawTicks(ticks, state.all, store, (entry) => !state.isHidden(entry) && isWrong(state.seen(entry)));
      drawn = now;
    },
  };
}

/** At most 200 ticks; one that stands for several messages is tall if any of them is an error. */
function drawTicks(ticks, entries, store, isWrong) {
  const bins = Math.min(entries.length, MOST_TICKS);
  const size = entries.length / bins;
  while (ticks.childElementCount > bins) ticks.lastChild.remove();
  while (ticks.childElementCount < bins) ticks.append(svg("line", { y2: 12 }));
  [...ticks.children].forEach((line, i) => {
    const part = entries.slice(Math.floor(i * size), Math.floor((i + 1) * size));
    const wrong = part.find(isWrong);
    const number = store.numberOf((wrong ?? part[0])?.server);
    const x = bins > 1 ? 4 + (i / (bins - 1)) * 992 : 996;
    change(line, { class: `mt-tick ${serverClass(number)}${wrong ? " mt-tick-wrong" : ""}`, x1: x, x2: x, y1: wrong ? 0 : 6 });
  });
}

/** What stays as it is costs nothing. */
function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
