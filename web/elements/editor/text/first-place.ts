/** How much of a text is looked at: front matter that is longer is no place to begin at, but the caret has one. */
const LOOKED_AT = 20_000;
const FRONT_MATTER = /^---[ \t]*\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n\s*|$)/;
/** What makes a heading, an item, a task or a quote of its line: what is written before it would undo that. */
const MARKS = /^(?:[ \t]*(?:#{1,6}|[-*+](?:[ \t]+\[[ xX]\])?|\d{1,9}[.)]|>)(?:[ \t]+|$))+/;

/** Where the first words of a text are, behind its front matter and the marks of their line: what is typed there goes before them. */
export function firstPlace(text: string): number {
  const looked = text.slice(0, LOOKED_AT);
  const start = FRONT_MATTER.exec(looked)?.[0].length ?? 0;
  const line = /^[^\n]*/.exec(looked.slice(start))?.[0] ?? '';
  return start + (MARKS.exec(line)?.[0].length ?? 0);
}
