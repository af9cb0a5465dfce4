import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ExtractError } from '../src/documents/formats/extract-error.ts';
import { readPdf } from '../src/documents/formats/pdf/read-pdf.ts';
import { readTables } from './tables/read-tables.ts';
import { compareTables, keyOf, type Neighbours } from './tables/relations.ts';
import { type Table, tablesOfTruth } from './tables/truth.ts';

const USAGE = `Usage: npm run bench:tables -- [FOLDER] [options]
  FOLDER        PDFs with the truth of their tables beside them (NAME-str.xml), as the competition of ICDAR 2013 published
                them; without it the collection beside the checkout
  --json FILE   writes the figures of each file
`;

/**
 * Compares the tables of PDFs with the truth: relations between neighbouring cells, and cells whose text is nowhere in what was read.
 */
const { values, positionals } = parseArgs({
  options: { json: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const folder = positionals[0] ?? fileURLToPath(new URL('../../shared/corpora/icdar2013/', import.meta.url));
const names = globSync('**/*-str.xml', { cwd: folder }).sort();
if (names.length === 0) {
  process.stderr.write(
    `${folder} has no tables to compare with (NAME.pdf and NAME-str.xml). Unpack the dataset of the ICDAR 2013 table competition, and run npm run bench:tables -- FOLDER\n`,
  );
  process.exit(1);
}

interface Figures extends Neighbours {
  file: string;
  cells: number;
  cells_lost: number;
  cpu_ms: number;
}

const files: Figures[] = [];
process.stdout.write('recall  precision  F1      cells (lost)   CPU, ms  file\n');
for (const name of names) {
  const file = name.replace(/-str\.xml$/, '.pdf');
  if (!existsSync(join(folder, file))) continue;
  const figures = await compare(file, tablesOfTruth(readFileSync(join(folder, name), 'utf8')));
  files.push(figures);
  print(figures);
}
const sum: Figures = {
  file: `${files.length} files`,
  truth: 0,
  found: 0,
  common: 0,
  cells: 0,
  cells_lost: 0,
  cpu_ms: 0,
};
for (const figures of files)
  for (const key of ['truth', 'found', 'common', 'cells', 'cells_lost', 'cpu_ms'] as const) sum[key] += figures[key];
print(sum);
if (values.json) writeFileSync(values.json, `${JSON.stringify({ ...sum, ...scores(sum), files }, null, 2)}\n`);

async function compare(file: string, truth: readonly Table[]): Promise<Figures> {
  const started = process.cpuUsage();
  const markdown = await read(file);
  const { user, system } = process.cpuUsage(started);
  const tables = readTables(markdown);
  const text = keyOf(markdown.replace(/\\(?=[!-/:-@[-`{-~])/g, ''));
  const cells = [...new Set(truth.flat(2))].flatMap((cell) => (cell && keyOf(cell.text) !== '' ? [cell] : []));
  // The words of a cell may stand apart where others are between its lines.
  const isLost = (words: string) =>
    !text.includes(keyOf(words)) && words.split(/\s+/).some((word) => !text.includes(keyOf(word)));
  return {
    file,
    ...compareTables(truth, tables),
    cells: cells.length,
    cells_lost: cells.filter((cell) => isLost(cell.text)).length,
    cpu_ms: Math.round((user + system) / 1_000),
  };
}

/** "" of a file that is refused. */
async function read(file: string): Promise<string> {
  try {
    const document = await readPdf(readFileSync(join(folder, file)));
    return ((await document.readMore?.()) ?? document).markdown;
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    process.stdout.write(`refused: ${error.message}: ${file}\n`);
    return '';
  }
}

function scores({ truth, found, common }: Neighbours) {
  const [recall, precision] = [common / Math.max(1, truth), common / Math.max(1, found)];
  return { recall, precision, f1: recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision) };
}

function print(figures: Figures): void {
  const { recall, precision, f1 } = scores(figures);
  const shares = [recall, precision, f1].map((share) => share.toFixed(4)).join('  ');
  const cells = `${figures.cells} (${figures.cells_lost})`.padEnd(13);
  process.stdout.write(`${shares}  ${cells}  ${String(figures.cpu_ms).padStart(7)}  ${figures.file}\n`);
}
