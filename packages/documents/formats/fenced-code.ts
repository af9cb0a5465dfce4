/**
 * Writes text as a code block with a fence longer than any run of backticks in it. `language`: its name in Markdown, or
 * "".
 */
export function fencedCode(text: string, language = ''): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n*$/, '')}\n${fence}`;
}
