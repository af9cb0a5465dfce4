/** Characters to search. With longer front matter the caret starts at the beginning of the text. */
const LOOKED_AT = 20_000;
const FRONT_MATTER = /^---[ \t]*\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n\s*|$)/;
/** The marks that make a line a heading, an item, a task or a quote; text typed before them would undo that. */
const MARKS = /^(?:[ \t]*(?:#{1,6}|[-*+](?:[ \t]+\[[ xX]\])?|\d{1,9}[.)]|>)(?:[ \t]+|$))+/;

/** Returns the position of the first words of a text, after its front matter and the marks of their line. */
export function firstPlace(text: string): number {
  const looked = text.slice(0, LOOKED_AT);
  const start = FRONT_MATTER.exec(looked)?.[0].length ?? 0;
  const line = /^[^\n]*/.exec(looked.slice(start))?.[0] ?? '';
  return start + (MARKS.exec(line)?.[0].length ?? 0);
}
