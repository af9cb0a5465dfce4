export interface Line {
  start: number;
  text: string;
}

const IMPORT =
  /^import\s+(?:(?:[\w$]+|\{[^}'"]*\}|\*\s+as\s+[\w$]+)(?:\s*,\s*(?:\{[^}'"]*\}|\*\s+as\s+[\w$]+))?\s*\sfrom\s+)?['"][^'"]+['"];?\s*$/;
const IMPORT_OF_LINES = /^import\s+(?:\w+,\s*)?\{[^}'"]*$/;
const EXPORT = /^export\s+(?:const|let|var|function|default|async|class)\b.*[=({]/;

/** Longer statements and comments are treated as text. */
const LINES_MAX = 1_000;

/**
 * Returns the line after an MDX statement that begins a block; undefined for other text. `isBehindHidden`: the previous
 * line is hidden.
 */
export function statementAt(lines: readonly Line[], from: number, isBehindHidden: boolean): number | undefined {
  const { text } = lines[from] as Line;
  if (!/^(?:im|ex)port\s/.test(text)) return undefined;
  const before = lines[from - 1];
  const isBlock = !before || before.text.trim() === '' || isBehindHidden || isFence(before.text);
  if (!isBlock) return undefined;
  if (IMPORT.test(text)) return from + 1;
  const isImport = IMPORT_OF_LINES.test(text);
  if (!isImport && !EXPORT.test(text)) return undefined;
  for (let i = from; i < Math.min(lines.length, from + LINES_MAX); i += 1) {
    const line = lines[i]?.text ?? '';
    if (line.trim() === '') return undefined;
    if (isImport ? /\}\s*from\s+['"][^'"]+['"];?\s*$/.test(line) : (lines[i + 1]?.text ?? '').trim() === '')
      return i + 1;
  }
  return undefined;
}

function isFence(line: string): boolean {
  return /^(?:---|\+\+\+)\s*$/.test(line);
}

/**
 * Returns the line after a comment that begins a line and ends at a line end; 0 if the comment is not closed, undefined
 * if there is no such comment.
 */
export function commentAt(lines: readonly Line[], from: number): number | undefined {
  const first = (lines[from] as Line).text.trimEnd();
  if (!first.startsWith('%%') || first.startsWith('%%%')) return undefined;
  if (first.length > 3 && first.indexOf('%%', 2) === first.length - 2) return from + 1;
  if (first.indexOf('%%', 2) >= 0) return undefined;
  for (let i = from + 1; i < Math.min(lines.length, from + LINES_MAX); i += 1) {
    const line = (lines[i] as Line).text.trimEnd();
    const at = line.indexOf('%%');
    if (at >= 0) return at === line.length - 2 ? i + 1 : undefined;
  }
  return 0;
}
