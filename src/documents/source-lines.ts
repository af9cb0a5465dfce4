import type { Kind } from './formats/file-type.ts';

/** Lines of a file as editors count them, from 1, both included; 0 for what is not from the file. */
export interface LineRange {
  first_line: number;
  last_line: number;
}

/**
 * Which lines of the file some Markdown is from: its lines from `at` on are those of the file from `line` on, `height` of them
 * each (the record of a table may go over several). Where `line` is 0 they are not from the file.
 */
export interface LineRun {
  at: number;
  line: number;
  height: number;
}

/** Whether who opens the file sees lines by which a place in it can be named. */
export function hasLines(kind: Kind): boolean {
  return kind === 'markdown' || kind === 'text' || kind === 'csv';
}

/** The lines of the file that a block is from. Without `runs` the Markdown is the file, line by line. */
export function linesOfBlock({ first_line, last_line }: LineRange, runs?: readonly LineRun[]): LineRange {
  if (!runs) return { first_line, last_line };
  const first = runOf(runs, first_line);
  const last = runOf(runs, last_line);
  return { first_line: first.line, last_line: last.line === 0 ? 0 : last.line + last.height - 1 };
}

/** Adds what line of the file a line of the Markdown is, if that does not follow from the lines before. */
export function addRun(runs: LineRun[], run: LineRun): void {
  const last = runs.at(-1);
  const expected = last && last.line > 0 ? last.line + (run.at - last.at) * last.height : 0;
  if (!last || last.height !== run.height || run.line !== expected) runs.push(run);
}

/** Adds that `count` lines of a part, from `at` on, are those of the document from `line` on, which `whole` says more of. */
export function addRuns(
  runs: LineRun[],
  { at, line, count }: { at: number; line: number; count: number },
  whole?: readonly LineRun[],
): void {
  if (!whole) return addRun(runs, { at, line, height: 1 });
  addRun(runs, { ...runOf(whole, line), at });
  for (let i = runsUpTo(whole, line); i < whole.length; i += 1) {
    const next = whole[i];
    if (!next || next.at >= line + count) break;
    addRun(runs, { ...next, at: at + next.at - line });
  }
}

/** The run that begins with this line of the Markdown, as part of the one that holds it. */
function runOf(runs: readonly LineRun[], at: number): LineRun {
  const run = runs[runsUpTo(runs, at) - 1];
  if (!run || run.line === 0) return { at, line: 0, height: 1 };
  return { ...run, at, line: run.line + (at - run.at) * run.height };
}

/** How many of the runs begin no later than this line of the Markdown. */
function runsUpTo(runs: readonly LineRun[], line: number): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.at ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}
