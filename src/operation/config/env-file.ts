export interface EnvLine {
  name: string;
  value: string;
  /** Counted from 1. */
  line: number;
}

/**
 * Parses lines `NAME=value`, as in env files of systemd, Docker and Node. Blank lines and lines that start with # are
 * ignored; a value may be in single or double quotes, and nothing in it is expanded. Constructs that these programs
 * read differently are problems: a comment after a value, an unclosed quote, a duplicate name.
 */
export function parseEnvFile(text: string): { entries: EnvLine[]; problems: { line: number; message: string }[] } {
  const entries: EnvLine[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const [at, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = at + 1;
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) continue;
    const [, name, given = ''] = /^([A-Za-z_]\w*)\s*=\s*(.*)$/s.exec(content) ?? [];
    if (name === undefined) {
      // Omit the line itself, which may contain a secret.
      problems.push({ line, message: 'is not a line of the form NAME=value' });
      continue;
    }
    const first = entries.find((entry) => entry.name === name);
    const value = unquoted(given);
    if (first) problems.push({ line, message: `${name} is already set in line ${first.line}: remove one of them` });
    else if (value === undefined) problems.push({ line, message: `${name} has an unclosed quote` });
    else if (value === given && /\s#/.test(value)) {
      problems.push({
        line,
        message: `${name} has a # after a space: put the comment on its own line, or the value in quotes`,
      });
    } else entries.push({ name, value, line });
  }
  return { entries, problems };
}

/** Removes quotes; returns undefined if a quote at either end is unmatched. */
function unquoted(text: string): string | undefined {
  const [, quote, inside = ''] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quote !== undefined) return inside.includes(quote) ? undefined : inside;
  return /^["']|["']$/.test(text) ? undefined : text;
}
