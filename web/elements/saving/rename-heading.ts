/** A page whose text begins with its title as a heading has one title: the heading is renamed with the page. */
export function renameHeading(markdown: string, was: string, title: string): string {
  if (title.trim() === was) return markdown;
  return markdown.replace(/^(\s*#[ \t]+)(.+?)([ \t]*#*[ \t]*\r?)$/m, (heading, mark, text, end, at) =>
    // Only at the text's beginning, behind what a front matter may hold.
    text === was && /^(?:---\r?\n.*?\n---\r?\n)?\s*$/s.test(markdown.slice(0, at))
      ? mark + escapeMarks(title.trim()) + end
      : heading,
  );
}

/** A text that Markdown shows as it is. */
function escapeMarks(text: string): string {
  return text.replace(/[\\`*_[\]<>&$~|]/g, '\\$&');
}
