// The loop as Markdown, for a report or an issue. What a server or a model said stands in code blocks, whose
// fence is longer than any run of backticks inside, so that nothing of it becomes markup.

import { fill, plural, visible } from "./common.js";
import { questionOf, turnName } from "./_loop_layout.js";
import { number } from "./_toolbox_words.js";
import T from "./text/loop.json" with { type: "json" };

/** All runs, turn by turn. */
export function transcript(runs) {
  return runs.flatMap(({ run, turns }) => [`# ${fill(T.run, { run })}`, fenced(questionOf(turns)), ...turns.flatMap(ofTurn)]).join("\n\n") + "\n";
}

function ofTurn(turn) {
  const sent = fill(T.messagesAndTools, { messages: plural(turn.messages, T.messages), tools: plural(turn.tools, T.tools) });
  const lines = [`## ${fill(T.turn, { turn: turnName(turn) })}`, `${sent}; ${fill(T.tokensIn, { n: number(turn.figures.in) })}${turn.used?.in != null ? ` (${T.measured}: ${fill(T.measuredIn, { n: number(turn.used.in) })})` : ""}`];
  if (turn.error !== null) lines.push(`${T.modelError}:`, fenced(turn.error));
  if (turn.says) lines.push(`${T.modelSays}:`, fenced(turn.says));
  for (const call of turn.calls) lines.push(fenced(`→ ${call.text}\n← ${T.outcome[call.outcome]}${call.code === null ? "" : ` ${call.code}`}${call.result === null ? "" : `: ${call.result}`}`));
  if (turn.end) lines.push(`${T.stopped}: ${Object.hasOwn(T.stop, turn.end.stop_reason) ? T.stop[turn.end.stop_reason] : `\`${turn.end.stop_reason.replaceAll("`", "'")}\``}`);
  return lines;
}

function fenced(text) {
  const shown = visible(text);
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}
