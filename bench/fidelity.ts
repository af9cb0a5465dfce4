import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { completeness } from '@ibid/documents/compile-file.ts';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import type { Extracted, UploadedFile } from '@ibid/documents/formats/extracted.ts';
import { isDocument } from '@ibid/documents/formats/file-type.ts';
import type { Loss } from '@ibid/documents/formats/losses.ts';
import { readDocument } from '@ibid/documents/formats/read-document.ts';
import { extract } from '@ibid/documents/formats/read-text.ts';
import { isLong, split } from '@ibid/documents/split/split-document.ts';
import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import type { Nodes } from 'mdast';
import { countEach, lostWords, take, wordsOf } from './fidelity/lost-words.ts';
import { readByOther, textAsWritten } from './fidelity/other-readers.ts';
import { measureTables } from './fidelity/tables.ts';

const USAGE = `Usage: npm run bench -- fidelity [FOLDER] [options]
  FOLDER        documents, and PDFs with the truth of their tables beside them (NAME-str.xml), as the ICDAR 2013 competition
                published them; without it the collections beside the checkout
  --only pdf    only the files of this format
  --lost        prints the words that are neither in the text nor in the list of losses
  --json FILE   writes the figures
`;

/**
 * Compares our reading of documents with the readings of pdftotext and pandoc, and tables of PDFs with their ground
 * truth.
 */
const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string', default: 'pdf,docx,epub,html' },
    lost: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const corpora = fileURLToPath(new URL('../../shared/corpora/', import.meta.url));
const [folder = join(corpora, 'documents')] = positionals;
const tableFolder = positionals[0] ?? join(corpora, 'icdar2013');

interface Comparison {
  /** Words of the other reader, words that both have, and our words. */
  theirs: number;
  common: number;
  ours: number;
  /** Sequences of three words of the other reader, and sequences that we have too. */
  sequences: number;
  same_sequences: number;
  /** Same for the order in which the program of a PDF wrote its text. */
  written: number;
  same_written: number;
  /**
   * Words that only the other reader finds, without words that are only divided differently; and the part of them that
   * no loss lists.
   */
  lost: number;
  unlisted: number;
  /** Words of `lost` and `unlisted` with a digit. */
  lost_numbers: number;
  unlisted_numbers: number;
}

const sums = new Map<string, Comparison>();
let refused = 0;
process.stdout.write(
  'recall  precision  order   as written  lost (not listed)  numbers of them  in text or list  of the lost  file\n',
);
for (const name of globSync(`**/*.{${values.only},}`, { cwd: folder }).sort()) {
  const file = join(folder, name);
  const format = name.slice(name.lastIndexOf('.') + 1);
  const theirs = readByOther(file, format);
  if (theirs === undefined) continue;
  try {
    const our = await ours(file);
    const comparison = compare(theirs, our, textAsWritten(file, format) ?? theirs);
    if (comparison.theirs === 0) continue;
    add(format, comparison);
    add('all', comparison);
    print(comparison, name);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    refused += 1;
    process.stdout.write(`refused: ${error.message}: ${name}\n`);
  }
}
for (const [format, sum] of sums) print(sum, `${format} in all`);
process.stdout.write(`${refused} refused\n`);

const tables = values.only.includes('pdf') && existsSync(tableFolder) ? await measureTables(tableFolder) : undefined;
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ words: Object.fromEntries(sums), refused, tables }, null, 2)}\n`);

interface OurReading {
  text: string;
  losses: Loss[];
}

async function ours(file: string): Promise<OurReading> {
  const uploaded = { filename: file, content_type: '', bytes: readFileSync(file) };
  const extracted: Extracted = isDocument(uploaded) ? await wholeDocument(uploaded) : extract(uploaded);
  const parts = isLong(extracted) ? split(extracted, '').map(({ markdown }) => markdown) : [extracted.markdown];
  const text = parts.map((markdown) => renderMarkdown(markdown).text).join('\n');
  const { losses } = completeness(extracted, text);
  // In a PDF the numbers of lists are words; the browser writes the numbers of our lists.
  const numbers = extracted.kind === 'pdf' ? parts.flatMap(listNumbers) : [];
  return { text: `${text}\n${numbers.join('\n')}`, losses };
}

async function wholeDocument(file: UploadedFile): Promise<Extracted> {
  const document = await readDocument(file);
  return (await document.readMore?.()) ?? document;
}

function listNumbers(markdown: string): number[] {
  const numbers: number[] = [];
  const walk = (node: Nodes): void => {
    if (node.type === 'list' && node.ordered) numbers.push(...node.children.map((_, i) => (node.start ?? 1) + i));
    if ('children' in node) for (const child of node.children) walk(child);
  };
  walk(parseMarkdown(markdown));
  return numbers;
}

function compare(other: string, { text, losses }: OurReading, asWritten: string): Comparison {
  // Each reader writes the commands of TeX in its own way.
  const withoutCommands = (of: string) => wordsOf(of.replace(/\\[a-z]+/gi, ' '));
  const [theirs, our] = [withoutCommands(other), withoutCommands(text)];
  const { only_theirs, lost, unlisted } = lostWords(theirs, our, losses);
  if (values.lost && unlisted.length > 0) process.stdout.write(`    ${unlisted.slice(0, 60).join(' ')}\n`);
  const [sequences, written] = [threes(theirs), threes(wordsOf(asWritten))];
  const same = (sequence: readonly string[]) => {
    const left = countEach(threes(our));
    return sequence.filter((each) => take(left, each)).length;
  };
  const numbers = (words: readonly string[]) => words.filter((word) => /\p{N}/u.test(word)).length;
  return {
    theirs: theirs.length,
    common: theirs.length - only_theirs.length,
    ours: our.length,
    sequences: sequences.length,
    same_sequences: same(sequences),
    written: written.length,
    same_written: same(written),
    lost: lost.length,
    unlisted: unlisted.length,
    lost_numbers: numbers(lost),
    unlisted_numbers: numbers(unlisted),
  };
}

function threes(words: readonly string[]): string[] {
  return words.slice(2).map((word, i) => `${words[i]} ${words[i + 1]} ${word}`);
}

function add(name: string, comparison: Comparison): void {
  const sum = sums.get(name);
  const keys = Object.keys(comparison) as (keyof Comparison)[];
  sums.set(
    name,
    sum
      ? (Object.fromEntries(keys.map((key) => [key, sum[key] + comparison[key]])) as unknown as Comparison)
      : comparison,
  );
}

function print(it: Comparison, name: string): void {
  const share = (part: number, all: number) => (all === 0 ? 1 : part / all).toFixed(4);
  const figures = [
    share(it.common, it.theirs),
    share(it.common, it.ours),
    share(it.same_sequences, it.sequences),
    share(it.same_written, it.written),
    `${it.lost} (${it.unlisted})`.padStart(12),
    `${it.lost_numbers} (${it.unlisted_numbers})`.padStart(10),
    share(it.theirs - it.unlisted, it.theirs),
    share(it.lost - it.unlisted, it.lost),
  ];
  process.stdout.write(`${figures.join('  ')}  ${name}\n`);
}
