/** What Markdown would take for markup inside a line, or at its beginning. */
const INLINE = /[\\`*_[\]<>&|~$!]/g;
const LINE_START = /^(\s*)([#+-]|\d+(?=[.)]))/;

/**
 * Plain text as Markdown that reads the same: markup is escaped, line breaks stay line breaks (two spaces), runs of
 * spaces at the beginning of a line stay as no-break spaces. A fenced block would keep them too, but would make every
 * letter look like a program.
 */
export function textToMarkdown(text: string): string {
  return text
    .split(/\n[ \t]*\n+/)
    .map((paragraph) => paragraph.split('\n').map(escapeLine).join('  \n'))
    .filter((paragraph) => paragraph.trim() !== '')
    .join('\n\n')
    .concat('\n');
}

function escapeLine(line: string): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  const body = line
    .slice(indent.length)
    .trimEnd()
    .replace(INLINE, '\\$&')
    .replace(LINE_START, startEscaped)
    .replace(/=/g, '\\=');
  return '\u00a0'.repeat(Math.min(indent.replaceAll('\t', '    ').length, 40)) + body;
}

function startEscaped(_: string, space: string, mark: string): string {
  return /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`;
}
