import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

/** Sentence shapes that make a comment hard to read, with the habit that mends each. */
const SHAPES: Record<string, RegExp> = {
  'make a noun the subject': /(?:^|[.;:] )(?:What|Who|Whoever|Whom|Whose|Which)\b(?=[^.?]*[.;]|[^?]*$)/g,
  'name it with a noun':
    /\bwhat (?:was|is|are|were|has|had|have|it|they|a|the|no|cannot|comes|came|other|others|people)\b/g,
  'repeat the noun': /\b(?:the one|the ones|those|one) (?:before|that|which|whose|of|in|at|with|who)\b/g,
  'say where or when': /\b(?:(?:are|is|was|were) there\b(?=[.,;)])|behind|beside|meanwhile|lately|anew)\b/g,
  'say who': /\b(?:nobody|somebody|anybody|whoever)\b/g,
  'say what is missing': /\b(?:is|are|has|have|had|with|needs?) (?:none|nothing)\b/g,
  'say whose': /\b(?:of which|of those|that of|those of)\b/g,
  'say how it is': /\bas (?:it|they) (?:was|were|is|are|stands?|has|had)\b/g,
  'use the verb of the field': /\b(?:go(?:es)? on|went on|takes? .{1,20} along|hand(?:s|ed)? on)\b/g,
};

/** Files with text of others, or text that is generated from elsewhere. */
const LEFT_OUT =
  /node_modules|\/vendor\/|clipboards|fixtures|(?:^|\/)dist\/|bench\/results|\/messages\/|CHANGELOG|\/generated\/|testdata|LICENSE/;

export interface Prose {
  file: string;
  line: number;
  text: string;
  hits: string[];
}

/** Returns every comment, docstring and paragraph of the repository, with the habit for each bad shape in it. */
export function allProse(): Prose[] {
  return globSync('**/*.{ts,js,sql,md}', { cwd: ROOT, exclude: ['node_modules/**', 'dist/**', 'data/**'] })
    .filter((file) => !LEFT_OUT.test(file) && file !== 'schema.sql')
    .sort()
    .flatMap((file) =>
      partsOf(file, readFileSync(`${ROOT}${file}`, 'utf8')).map(({ line, text }) => ({
        file,
        line,
        text,
        hits: Object.entries(SHAPES).flatMap(([habit, shape]) => (text.match(shape) ?? []).map(() => habit)),
      })),
    );
}

/** Hits per 10,000 words, in all and by folder: the first two parts of the path. Folders below 300 words count in all alone. */
export function proseRates(prose: readonly Prose[]): { all: number; folders: Record<string, number> } {
  const counts = new Map<string, { words: number; hits: number }>();
  for (const { file, text, hits } of prose)
    for (const key of ['', file.split('/').slice(0, 2).join('/')]) {
      const count = counts.get(key) ?? { words: 0, hits: 0 };
      counts.set(key, { words: count.words + text.split(/\s+/).length, hits: count.hits + hits.length });
    }
  const rates = [...counts].map(([key, { words, hits }]) => ({
    key,
    words,
    rate: Math.round((1e5 * hits) / words) / 10,
  }));
  const folders = rates
    .filter(({ key, words }) => key !== '' && words > 300)
    .map(({ key, rate }) => [key, rate] as const);
  return { all: rates.find(({ key }) => key === '')?.rate ?? 0, folders: Object.fromEntries(folders.sort()) };
}

type Part = Pick<Prose, 'line' | 'text'>;

function partsOf(file: string, text: string): Part[] {
  if (file.endsWith('.md')) return paragraphsOf(text);
  if (file.endsWith('.sql')) return linesOf(text, /^\s*--\s?(.*)|^comment on .* is '(.*)'/, false);
  const docstrings = [...text.matchAll(/(?<![^\s({[,;])\/\*\*?(.*?)\*\//gs)].map((found) => ({
    line: text.slice(0, found.index).split('\n').length,
    text: (found[1] ?? '').replace(/\n\s*\*\s?/g, ' ').trim(),
  }));
  return [...docstrings, ...linesOf(text, /^\s*\/\/[/!]?\s?(.*)/, true)];
}

/** Lines that match, joined where they follow each other. */
function linesOf(text: string, pattern: RegExp, isJoined: boolean): Part[] {
  const parts: (Part & { last: number })[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const found = pattern.exec(line);
    if (!found) continue;
    const words = found[1] ?? found[2] ?? '';
    const before = parts.at(-1);
    if (isJoined && before?.last === i) Object.assign(before, { text: `${before.text} ${words}`, last: i + 1 });
    else parts.push({ line: i + 1, text: words, last: i + 1 });
  }
  return parts;
}

/** Paragraphs of Markdown outside of code. */
function paragraphsOf(text: string): Part[] {
  const parts: Part[] = [];
  let isCode = false;
  let open: Part | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    else if (isCode) continue;
    else if (line.trim() === '') open = undefined;
    else if (open) open.text += ` ${line.trim()}`;
    else parts.push((open = { line: i + 1, text: line.trim() }));
  }
  return parts;
}
