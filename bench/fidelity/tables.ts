import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import { readPdf } from '@ibid/documents/formats/pdf/read-pdf.ts';
import { readTables } from './read-tables.ts';
import { compareTables, keyOf, type Neighbours } from './relations.ts';
import { type Table, tablesOfTruth } from './truth.ts';

interface Figures extends Neighbours {
  cells: number;
  cells_lost: number;
  cpu_ms: number;
}

/**
 * Compares the tables of the PDFs in a folder with their ground truth: relations between neighbouring cells, and cells
 * whose text is missing from the extracted text. Prints and returns the figures; undefined if no file has a ground
 * truth next to it.
 */
export async function measureTables(folder: string): Promise<object | undefined> {
  const names = globSync('**/*-str.xml', { cwd: folder })
    .sort()
    .map((name) => [name, name.replace(/-str\.xml$/, '.pdf')] as const)
    .filter(([, file]) => existsSync(join(folder, file)));
  if (names.length === 0) return undefined;
  const sum: Figures = { truth: 0, found: 0, common: 0, cells: 0, cells_lost: 0, cpu_ms: 0 };
  process.stdout.write('\nrecall  precision  F1      cells (lost)   CPU, ms  tables of\n');
  for (const [name, file] of names) {
    const figures = await compare(join(folder, file), tablesOfTruth(readFileSync(join(folder, name), 'utf8')));
    for (const key of Object.keys(sum) as (keyof Figures)[]) sum[key] += figures[key];
    print(figures, file);
  }
  print(sum, `${names.length} files`);
  return { files: names.length, ...sum, ...scores(sum) };
}

async function compare(file: string, truth: readonly Table[]): Promise<Figures> {
  const started = process.cpuUsage();
  const markdown = await read(file);
  const { user, system } = process.cpuUsage(started);
  const tables = readTables(markdown);
  const text = keyOf(markdown.replace(/\\(?=[!-/:-@[-`{-~])/g, ''));
  const cells = [...new Set(truth.flat(2))].flatMap((cell) => (cell && keyOf(cell.text) !== '' ? [cell] : []));
  // Other text between the lines of a cell may separate its words.
  const isLost = (words: string) =>
    !text.includes(keyOf(words)) && words.split(/\s+/).some((word) => !text.includes(keyOf(word)));
  return {
    ...compareTables(truth, tables),
    cells: cells.length,
    cells_lost: cells.filter((cell) => isLost(cell.text)).length,
    cpu_ms: Math.round((user + system) / 1_000),
  };
}

/** Reads a PDF as Markdown; returns "" if the file is refused. */
async function read(file: string): Promise<string> {
  try {
    const document = await readPdf(readFileSync(file));
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

function print(figures: Figures, name: string): void {
  const { recall, precision, f1 } = scores(figures);
  const shares = [recall, precision, f1].map((share) => share.toFixed(4)).join('  ');
  const cells = `${figures.cells} (${figures.cells_lost})`.padEnd(13);
  process.stdout.write(`${shares}  ${cells}  ${String(figures.cpu_ms).padStart(7)}  ${name}\n`);
}
