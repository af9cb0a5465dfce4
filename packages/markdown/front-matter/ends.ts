/** Front matter of YAML that ends as a document of YAML may: by dots. It begins with a field, since dots may stand between two rules. */
const DOTTED =
  /^(---[ \t]*\r?\n[ \t]*[\w"'-][^\n]*:(?:[ \t][^\n]*)?\r?\n(?:(?!---[ \t]*\r?$)[^\n]*\n)*?)\.\.\.(?=[ \t]*(?:\r?\n|$))/m;

/** The text with the usual end of front matter, of the same length. */
export function withFrontMatterEnd(markdown: string): string {
  const front = markdown.startsWith('---') ? DOTTED.exec(markdown) : null;
  if (front?.index !== 0) return markdown;
  const [, before = ''] = front;
  return `${before}---${markdown.slice(before.length + 3)}`;
}
