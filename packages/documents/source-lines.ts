import type { Kind } from './formats/kinds.ts';

/**
 * Lines of a file as editors count them, from 1, inclusive; 0 for content that is not from the file or whose line is
 * unknown. In a Word document, lines are its paragraphs; in an EPUB, its chapters.
 */
export interface LineRange {
  first_line: number;
  last_line: number;
}

/**
 * Maps lines of Markdown to lines of the file: Markdown lines from `at` on are file lines from `line` on, `height` file
 * lines each. A CSV record may have several lines. With height 0 all Markdown lines map to `line`, as in a chapter.
 * `line` 0: not from the file.
 */
export interface LineRun {
  at: number;
  line: number;
  height: number;
}

/** Tells whether files of a kind have lines, or similar units, that citations can refer to. */
export function hasLines(kind: Kind): boolean {
  return kind === 'markdown' || kind === 'text' || kind === 'csv' || kind === 'docx' || kind === 'epub';
}

/** Returns the lines of the file from which a block was made. Without `runs`, the Markdown is the file. */
export function linesOfBlock({ first_line, last_line }: LineRange, runs?: readonly LineRun[]): LineRange {
  if (!runs) return { first_line, last_line };
  const first = runOf(runs, first_line);
  const last = runOf(runs, last_line);
  return { first_line: first.line, last_line: last.line === 0 ? 0 : last.line + Math.max(last.height, 1) - 1 };
}

/** Appends a run, unless it continues the last one. */
export function addRun(runs: LineRun[], run: LineRun): void {
  const last = runs.at(-1);
  const expected = last && last.line > 0 ? last.line + (run.at - last.at) * last.height : 0;
  if (!last || last.height !== run.height || run.line !== expected) runs.push(run);
}

/**
 * Appends runs for `count` lines of a part, which begins at line `at`: the lines of the document from `line` on, mapped
 * by `whole`.
 */
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

/** Returns the run that starts at this line of the Markdown, cut from the run that contains it. */
function runOf(runs: readonly LineRun[], at: number): LineRun {
  const run = runs[runsUpTo(runs, at) - 1];
  if (!run || run.line === 0) return { at, line: 0, height: 1 };
  return { ...run, at, line: run.line + (at - run.at) * run.height };
}

/** Counts the runs that start at or before this line of the Markdown. */
function runsUpTo(runs: readonly LineRun[], line: number): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.at ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}
