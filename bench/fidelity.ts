import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Nodes } from 'mdast';
import { completeness } from '../src/documents/compile-file.ts';
import { ExtractError } from '../src/documents/formats/extract-error.ts';
import type { Extracted, UploadedFile } from '../src/documents/formats/extracted.ts';
import { isDocument } from '../src/documents/formats/file-type.ts';
import type { Loss } from '../src/documents/formats/losses.ts';
import { readDocument } from '../src/documents/formats/read-document.ts';
import { extract } from '../src/documents/formats/read-text.ts';
import { isLong, split } from '../src/documents/split/split-document.ts';
import { parseMarkdown } from '../src/markdown/parse-markdown.ts';
import { renderMarkdown } from '../src/markdown/render.ts';
import { countEach, lostWords, take, wordsOf } from './lost-words.ts';
import { type OtherReading, readByOther, textAsWritten } from './other-readers.ts';
import { addHeading, emptyStructure, matches, STRUCTURES, type Structure, structureOfMarkdown } from './structure.ts';

/**
 * Compares what is read of documents with what pdftotext and pandoc read of them:
 * `npm run bench:fidelity -- FOLDER`. Without a folder it reads the collection beside the checkout. `--lost` prints the
 * words that are neither in the text nor in the list of losses, `--structure` the headings, items and cells that differ.
 * `--only=pdf` reads the files of one format.
 */
const args = process.argv.slice(2);
const showsLost = args.includes('--lost');
const showsStructure = args.includes('--structure');
const formats = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? 'pdf,docx,epub,html';
const folder =
  args.find((arg) => !arg.startsWith('--')) ??
  fileURLToPath(new URL('../../shared/corpora/documents/', import.meta.url));

interface Comparison {
  /** Words that the other reader finds, those of them that we have, and all of ours. */
  theirs: number;
  common: number;
  ours: number;
  /** Sequences of three words that the other reader finds, and those of them that we have. */
  sequences: number;
  same_sequences: number;
  /** The same for the order in which the program of a PDF wrote its text. */
  written: number;
  same_written: number;
  /** Words that only the other reader finds, divided differently ones not counted, and those of them that are not listed. */
  lost: number;
  unlisted: number;
  /** Those of them with a digit. */
  lost_numbers: number;
  unlisted_numbers: number;
  /** Of headings, items of lists and cells of tables: those that both have, and all of both. */
  same_headings: number;
  all_headings: number;
  same_items: number;
  all_items: number;
  same_cells: number;
  all_cells: number;
}

/** Of a file without tags, no structure is known. */
const NONE = { common: 0, all: 0 };

const sums = new Map<string, Comparison>();
let refused = 0;
process.stdout.write(
  'recall  precision  order   as written  headings  items   cells   lost (not listed)  numbers of them  in text or list  file\n',
);
for (const name of globSync(`**/*.{${formats},}`, { cwd: folder }).sort()) {
  const file = join(folder, name);
  const format = name.slice(name.lastIndexOf('.') + 1);
  const theirs = readByOther(file, format);
  if (theirs === undefined) continue;
  try {
    const our = await ours(file);
    const comparison = compare(theirs, our, textAsWritten(file, format) ?? theirs.text);
    if (comparison.theirs === 0) continue;
    add(format, comparison);
    add('all', comparison);
    if (theirs.content !== undefined) {
      const content = { text: theirs.content, structure: undefined, isPartial: false };
      add(`${format} without navigation`, compare(content, our, theirs.content, false));
    }
    print(comparison, name);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    refused += 1;
    process.stdout.write(`refused: ${error.message}: ${name}\n`);
  }
}
for (const [format, sum] of sums) print(sum, `${format} in all`);
process.stdout.write(`${refused} refused\n`);

interface OurReading {
  text: string;
  losses: Loss[];
  structure: Structure;
}

async function ours(file: string): Promise<OurReading> {
  const uploaded = { filename: file, content_type: '', bytes: readFileSync(file) };
  const extracted: Extracted = isDocument(uploaded) ? await wholeDocument(uploaded) : extract(uploaded);
  const parts = isLong(extracted) ? split(extracted, '').map(({ markdown }) => markdown) : [extracted.markdown];
  const text = parts.map((markdown) => renderMarkdown(markdown).text).join('\n');
  const { losses } = completeness(extracted, text);
  // In a PDF the numbers of lists are words; ours are made by the browser.
  const numbers = extracted.kind === 'pdf' ? parts.flatMap(listNumbers) : [];
  const structure = structureOfMarkdown(parts.join('\n\n'));
  return { text: `${text}\n${numbers.join('\n')}`, losses, structure };
}

async function wholeDocument(file: UploadedFile): Promise<Extracted> {
  const document = await readDocument(file);
  return (await document.readMore?.()) ?? document;
}

/** The numbers before the items of lists. */
function listNumbers(markdown: string): number[] {
  const numbers: number[] = [];
  const walk = (node: Nodes): void => {
    if (node.type === 'list' && node.ordered) numbers.push(...node.children.map((_, i) => (node.start ?? 1) + i));
    if ('children' in node) for (const child of node.children) walk(child);
  };
  walk(parseMarkdown(markdown));
  return numbers;
}

function compare(
  other: OtherReading,
  { text, losses, structure }: OurReading,
  asWritten: string,
  isShown = true,
): Comparison {
  // The commands of TeX are each reader's own.
  const withoutCommands = (of: string) => wordsOf(of.replace(/\\[a-z]+/gi, ' '));
  const [theirs, our] = [withoutCommands(other.text), withoutCommands(text)];
  const { only_theirs, lost, unlisted } = lostWords(theirs, our, losses);
  if (isShown && showsLost && unlisted.length > 0) process.stdout.write(`    ${unlisted.slice(0, 60).join(' ')}\n`);
  const [sequences, written] = [threes(theirs), threes(wordsOf(asWritten))];
  const same = (sequence: readonly string[]) => {
    const left = countEach(threes(our));
    return sequence.filter((each) => take(left, each)).length;
  };
  const elements = STRUCTURES.map((kind) => compareElements(kind, other, structure));
  const [headings = NONE, items = NONE, cells = NONE] = elements;
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
    same_headings: headings.common,
    all_headings: headings.all,
    same_items: items.common,
    all_items: items.all,
    same_cells: cells.common,
    all_cells: cells.all,
  };
}

/** `--structure` prints the elements that one of both does not have. */
function compareElements(
  kind: (typeof STRUCTURES)[number],
  { structure: theirs, isPartial, title }: OtherReading,
  ours: Structure,
): { common: number; all: number } {
  if (!theirs) return NONE;
  const found = matches(theirs[kind], ours[kind], isPartial);
  const page = emptyStructure();
  if (title) addHeading(page, 1, title);
  const own = found.only_ours.findIndex((each) => kind === 'headings' && page.headings.includes(each));
  if (own >= 0) {
    found.only_ours.splice(own, 1);
    found.all -= 1;
  }
  if (showsStructure) {
    for (const each of found.only_theirs) process.stdout.write(`    - ${kind}: ${each}\n`);
    for (const each of found.only_ours) process.stdout.write(`    + ${kind}: ${each}\n`);
  }
  return found;
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
  const f1 = (same: number, all: number) => (all === 0 ? '-     ' : share(2 * same, all));
  const figures = [
    share(it.common, it.theirs),
    share(it.common, it.ours),
    share(it.same_sequences, it.sequences),
    share(it.same_written, it.written),
    f1(it.same_headings, it.all_headings),
    f1(it.same_items, it.all_items),
    f1(it.same_cells, it.all_cells),
    `${it.lost} (${it.unlisted})`.padStart(12),
    `${it.lost_numbers} (${it.unlisted_numbers})`.padStart(10),
    share(it.theirs - it.unlisted, it.theirs),
    share(it.lost - it.unlisted, it.lost),
  ];
  process.stdout.write(`${figures.join('  ')}  ${name}\n`);
}
