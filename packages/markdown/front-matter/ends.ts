/**
 * YAML front matter that ends in dots, as YAML documents may. It must begin with a field, because dots may also stand
 * between two thematic breaks.
 */
const DOTTED =
  /^(---[ \t]*\r?\n[ \t]*[\w"'-][^\n]*:(?:[ \t][^\n]*)?\r?\n(?:(?!---[ \t]*\r?$)[^\n]*\n)*?)\.\.\.(?=[ \t]*(?:\r?\n|$))/m;

/** Replaces dots at the end of front matter by dashes; the length stays the same. */
export function withFrontMatterEnd(markdown: string): string {
  const front = markdown.startsWith('---') ? DOTTED.exec(markdown) : null;
  if (front?.index !== 0) return markdown;
  const [, before = ''] = front;
  return `${before}---${markdown.slice(before.length + 3)}`;
}
