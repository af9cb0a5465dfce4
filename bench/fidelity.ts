import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { completeness } from '../src/documents/compile-file.ts';
import { ExtractError } from '../src/documents/formats/extract-error.ts';
import type { Extracted } from '../src/documents/formats/extracted.ts';
import { isDocument } from '../src/documents/formats/file-type.ts';
import { readDocument } from '../src/documents/formats/read-document.ts';
import { extract } from '../src/documents/formats/read-text.ts';
import { isLong, split } from '../src/documents/split/split-document.ts';
import { renderMarkdown } from '../src/markdown/render.ts';

/**
 * Compares what is read of documents with what pdftotext and pandoc read of them:
 * `npm run bench:fidelity -- FOLDER`. Without a folder it reads the collection beside the checkout.
 */
const folder = process.argv[2] ?? fileURLToPath(new URL('../../shared/corpora/documents/', import.meta.url));

/** The other reader of a format; it writes the text to its output. */
const READERS: Record<string, (file: string) => [command: string, args: string[]]> = {
  pdf: (file) => ['pdftotext', ['-enc', 'UTF-8', file, '-']],
  docx: (file) => ['pandoc', ['-f', 'docx', '-t', 'plain', '--wrap=none', file]],
  epub: (file) => ['pandoc', ['-f', 'epub', '-t', 'plain', '--wrap=none', file]],
  html: (file) => ['pandoc', ['-f', 'html', '-t', 'plain', '--wrap=none', file]],
};

interface Comparison {
  /** Words that the other reader finds, those of them that we have, and all of ours. */
  theirs: number;
  common: number;
  ours: number;
  /** Sequences of three words that the other reader finds, and those of them that we have. */
  sequences: number;
  same_sequences: number;
  /** Words with a digit that only the other reader finds. */
  lost_numbers: number;
  /** Letters of the words that only the other reader finds, and those of them that the list of losses can explain. */
  lost_letters: number;
  listed_letters: number;
}

const sums = new Map<string, Comparison>();
let refused = 0;
process.stdout.write('recall  precision  order  numbers lost  losses listed  file\n');
for (const name of globSync('**/*.{pdf,docx,epub,html}', { cwd: folder }).sort()) {
  const file = join(folder, name);
  const format = name.slice(name.lastIndexOf('.') + 1);
  const theirs = textOfOther(file, format);
  if (theirs === undefined) continue;
  try {
    const comparison = compare(theirs, await ours(file));
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

function textOfOther(file: string, format: string): string | undefined {
  const [command, args] = READERS[format]?.(file) ?? ['', []];
  if (!['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'].some((bin) => existsSync(join(bin, command))))
    return undefined;
  try {
    return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // It cannot read the file, so there is nothing to compare with.
    return undefined;
  }
}

async function ours(file: string) {
  const uploaded = { filename: file, content_type: '', bytes: readFileSync(file) };
  const extracted: Extracted = isDocument(uploaded) ? await readDocument(uploaded) : extract(uploaded);
  const parts = isLong(extracted) ? split(extracted, '').map(({ markdown }) => markdown) : [extracted.markdown];
  const text = parts.map((markdown) => renderMarkdown(markdown).text).join('\n');
  return { text, losses: completeness(extracted, text).losses };
}

function compare(theirText: string, { text, losses }: Awaited<ReturnType<typeof ours>>): Comparison {
  const [theirs, our] = [wordsOf(theirText), wordsOf(text)];
  const left = countEach(our);
  const lost = theirs.filter((word) => !take(left, word));
  const sequences = threes(theirs);
  const ourSequences = countEach(threes(our));
  const lost_letters = lost.join('').length;
  // What is no text has no letters to count: pages and pictures without text explain what another reader makes of them.
  const listed = losses.some(({ characters }) => characters === 0)
    ? lost_letters
    : losses.reduce((sum, { characters }) => sum + characters, 0);
  return {
    theirs: theirs.length,
    common: theirs.length - lost.length,
    ours: our.length,
    sequences: sequences.length,
    same_sequences: sequences.filter((sequence) => take(ourSequences, sequence)).length,
    lost_numbers: lost.filter((word) => /\p{N}/u.test(word)).length,
    lost_letters,
    listed_letters: Math.min(lost_letters, listed),
  };
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .replace(/\u00ad|-\n/g, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function threes(words: readonly string[]): string[] {
  return words.slice(2).map((word, i) => `${words[i]} ${words[i + 1]} ${word}`);
}

function countEach(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Takes one of a value out of the counts; false if there is none left. */
function take(counts: Map<string, number>, value: string): boolean {
  const count = counts.get(value) ?? 0;
  counts.set(value, count - 1);
  return count > 0;
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
  const figures = [share(it.common, it.theirs), share(it.common, it.ours), share(it.same_sequences, it.sequences)];
  process.stdout.write(
    `${figures.join('  ')}  ${it.lost_numbers}  ${share(it.listed_letters, it.lost_letters)}  ${name}\n`,
  );
}
