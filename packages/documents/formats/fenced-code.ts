/** Text as a block of code, whose fence is longer than any in it. `language`: as Markdown names it, or "". */
export function fencedCode(text: string, language = ''): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n*$/, '')}\n${fence}`;
}
