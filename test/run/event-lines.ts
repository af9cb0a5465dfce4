import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** The result of a test, as a line of JSON from the process of its file. */
export interface EndedTest {
  name: string;
  /** The bundle that called `test`; undefined if node:test does not know it. */
  file?: string;
  /** 0 for a test of the file, 1 for a subtest. */
  nesting: number;
  ms: number;
  outcome: 'passed' | 'failed' | 'skipped';
  /** The error with its stack; empty if only subtests failed. */
  error: string;
}

/** A message of the previous test, such as the seed of a fuzzer. */
export interface Note {
  note: string;
}

/** Totals that node:test adds at the end of a process. */
const TOTALS = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** A reporter of node:test that writes lines of JSON. */
export default async function* eventLines(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && !TOTALS.test(data.message)) yield line({ note: data.message });
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // In a process of several files, node:test also reports each file as a test.
    if (data.name === data.file) continue;
    const { name, file, nesting, details } = data;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = type === 'test:fail' ? 'failed' : isSkipped ? 'skipped' : 'passed';
    const error = type === 'test:fail' ? errorText(data.details.error) : '';
    yield line({ name, ...(file && { file }), nesting, ms: details.duration_ms, outcome, error });
  }
}

function line(entry: EndedTest | Note): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Formats the error of a test, which node:test wraps. */
function errorText(error: Error & { failureType?: string }): string {
  if (error.failureType === 'subtestsFailed') return '';
  return inspect(error.cause ?? error, { depth: 8, breakLength: 120 });
}
