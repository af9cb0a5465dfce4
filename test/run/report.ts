import type { FileResult } from './file-process.ts';

const SLOWEST = 10;
const COMMAND = process.argv.includes('--all') ? 'npm test -- --all' : 'npm test --';
const OUTPUT_LINES = 40;

/** Prints a run: a line for each file as it ends, and failures with a remedy. */
export interface Report {
  ended(file: string, result: FileResult): void;
  /** Prints the slowest files and the totals. Returns whether all tests passed. */
  end(): boolean;
}

/** Opens a report. `isDetailed`: prints each test too, for runs of a few files. */
export function openReport(isDetailed: boolean, print: (text: string) => void = console.log): Report {
  const started = performance.now();
  const times: [seconds: number, file: string][] = [];
  const count = { passed: 0, failed: 0, skipped: 0 };
  let isGood = true;
  return {
    ended(file, result) {
      const { seconds, tests, notes, problem, output } = result;
      const failed = tests.filter(({ outcome }) => outcome === 'failed');
      const isFailed = failed.length > 0 || problem !== undefined;
      for (const { outcome } of tests) count[outcome] += 1;
      times.push([seconds, file]);
      print(`${isFailed ? '✖' : '✔'} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${file}  (${tests.length})`);
      if (isDetailed) for (const { name, nesting, ms, outcome } of tests) print(testLine(name, nesting, ms, outcome));
      if (isDetailed || isFailed) for (const note of notes) print(`    ${note}`);
      if (!isFailed) return;
      isGood = false;
      for (const { name, error } of failed) if (error !== '') print(failure(file, name, error));
      if (problem !== undefined) {
        count.failed += 1;
        print(`\n    ${problem}\n    Run it alone: ${COMMAND} ${file}`);
      }
      if (output.trim() !== '')
        print(`\n    Its output:\n${indented(output.trim().split('\n').slice(-OUTPUT_LINES).join('\n'))}`);
      print('');
    },
    end() {
      if (times.length > SLOWEST) {
        const slowest = times.sort(([one], [other]) => other - one).slice(0, SLOWEST);
        print(`\nSlowest:\n${slowest.map(([s, file]) => `${s.toFixed(1).padStart(7)} s  ${file}`).join('\n')}`);
      }
      const seconds = Math.round((performance.now() - started) / 1_000);
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      print(`\n${times.length} ${times.length === 1 ? 'file' : 'files'} in ${time} minutes`);
      const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
      print(`Tests: ${count.passed} passed, ${count.failed} failed${skipped}`);
      return isGood && count.passed + count.skipped > 0;
    },
  };
}

const SIGNS = { passed: '✔', failed: '✖', skipped: '-' };

function testLine(name: string, nesting: number, ms: number, outcome: keyof typeof SIGNS): string {
  return `${'  '.repeat(nesting + 2)}${SIGNS[outcome]} ${name} (${Math.round(ms)} ms)`;
}

function failure(file: string, name: string, error: string): string {
  const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/["$`\\]/g, '\\$&');
  return `\n    ${name}\n${indented(error)}\n    Run it alone: ${COMMAND} ${file} --test-name-pattern="${pattern}"`;
}

function indented(text: string): string {
  return text.replace(/^/gm, '      ');
}
