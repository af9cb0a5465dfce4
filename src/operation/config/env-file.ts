export interface EnvLine {
  name: string;
  value: string;
  /** From 1. */
  line: number;
}

/**
 * Reads lines `NAME=value`, as env files have them for systemd, Docker and Node: blank lines, and lines that begin with #
 * count for nothing; a value may stand in single or double quotes. Nothing in a value is expanded. What those programs read
 * in different ways is a problem: a comment behind a value, a quote that is not closed, a name that is there twice.
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
      // Not the line itself, which may have a secret.
      problems.push({ line, message: 'is not a line such as NAME=value' });
      continue;
    }
    const first = entries.find((entry) => entry.name === name);
    const value = unquoted(given);
    if (first) problems.push({ line, message: `${name} is given already in line ${first.line}: remove one of them` });
    else if (value === undefined) problems.push({ line, message: `${name} has a quote that is not closed at its end` });
    else if (value === given && /\s#/.test(value)) {
      problems.push({
        line,
        message: `${name} has a # behind a space: put a comment on a line of its own, or the value in quotes`,
      });
    } else entries.push({ name, value, line });
  }
  return { entries, problems };
}

/** undefined where a quote at the beginning or the end has no other one. */
function unquoted(text: string): string | undefined {
  const [, quote, inside = ''] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quote !== undefined) return inside.includes(quote) ? undefined : inside;
  return /^["']|["']$/.test(text) ? undefined : text;
}
