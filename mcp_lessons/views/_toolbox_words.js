// The words of ToolboxView: text/toolbox.json filled in. What a server said stays as it is here, and is
// made visible when it becomes text in the page.

import { el, fill, plural, shorten } from "./common.js";
import T from "./text/toolbox.json" with { type: "json" };

/** Why the list changed: "weather joins", "weather: list_changed", "turn 2". */
export function causeWords(cause) {
  if (cause.kind === "said") return cause.text || T.cause.said;
  if (cause.kind === "turn") return fill(cause.run > 1 ? T.cause.turnOfRun : T.cause.turn, cause);
  return fill(T.cause[cause.kind], { server: cause.server || T.aServer });
}

/** A badge in words: "new since turn 2", "changed: description". */
export function badgeWords(badge) {
  const fields = badge.fields?.length ? badge.fields.map((name) => fieldName(name)).join(", ") : T.fields[""];
  const said = fill(T.badge[badge.kind], { fields });
  return badge.since ? `${said} ${fill(T.since, { turn: causeWords(badge.since) })}` : said;
}

/** The name of a field of an entry, in a reader's words. */
export function fieldName(name) {
  return Object.hasOwn(T.fields, name) ? T.fields[name] : name;
}

/** A warning in a few words, and in a sentence. */
export function findingWords(finding) {
  return { short: fill(T.finding[finding.kind], finding), long: fill(T.findingHow[finding.kind], finding) };
}

/** The server's name; words for the reader's own functions, which have none. */
export function serverName(server) {
  return server ? shorten(server, 60) : T.python;
}

/** What a step of the growth did, as one sentence: "files joins: 7 tools, ≈459 tokens, 5 new". */
export function stepSentence(step) {
  const moved = [["stepAdded", step.added], ["stepChanged", step.changed], ["stepRemoved", step.removed]]
    .filter(([, n]) => n).map(([form, n]) => plural(n, T[form]));
  const sentence = fill(T.stepSentence, { cause: causeWords(step.cause), tools: plural(step.tools, T.tools), n: number(step.tokens) });
  return [sentence, ...moved].join(", ");
}

/** A name that may be broken after its underscores and dots, as texts and breaks. */
export function breakable(name) {
  return name.split(/(?<=[_.])(?=[^_.])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

/** 1234 as 1,234. */
export function number(n) {
  return n.toLocaleString("en-US");
}
