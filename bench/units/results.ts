import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Starts } from '../starts.ts';

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

/** The figures of one run, as `bench/results/units-DATE.json` keeps them. What was not measured is not there. */
export interface Results {
  /** Day of the run, YYYY-MM-DD. */
  date: string;
  machine: string;
  /** Load average when the run began. */
  load: number;
  pages: number;
  connections: number;
  rows: { name: string; aim: number; cost_ms: number; units: number; per_second: number }[];
  starts?: Starts;
  /** PSS of the service with all processes: idle after a start, at most, idle after all rows. */
  fresh_mb?: number;
  highest_mb?: number;
  idle_mb?: number;
  /** Of the database, with source, citations and index. */
  bytes_a_page?: number;
}

/** The aims of what is no request. */
const REST: [name: string, aim: string, shown: (results: Results) => string | undefined][] = [
  ['first start to /readyz, s', '2.5', ({ starts }) => starts && (starts.first_ms / 1_000).toFixed(2)],
  ['next start, s', '.5', ({ starts }) => starts && (starts.next_ms / 1_000).toFixed(2)],
  ['memory when idle, new, MB (PSS)', '140', ({ fresh_mb }) => fresh_mb?.toFixed(0)],
  ['memory when idle, after all this, MB', '200', ({ idle_mb }) => idle_mb?.toFixed(0)],
  ['memory at most, MB', '260', ({ highest_mb }) => highest_mb?.toFixed(0)],
  ['database, bytes a page', '12000', ({ bytes_a_page }) => bytes_a_page?.toFixed(0)],
];

/**
 * The kept run that `before` names; without it the newest with as many connections, of days before `date` if one is given.
 * undefined if there is none.
 */
export function readBefore(before: string, connections: number, date = '9'): Results | undefined {
  const files = before === '' ? globSync('units-*.json', { cwd: RESULTS }).map((name) => RESULTS + name) : [before];
  return files
    .map((file): Results => JSON.parse(readFileSync(file, 'utf8')))
    .filter((results) => before !== '' || (results.connections === connections && results.date < date))
    .sort((one, other) => one.date.localeCompare(other.date))
    .at(-1);
}

/** The table of a run beside an earlier one: requests in selects of pgbench, then starts, memory and size on disk. */
export function tableOf(now: Results, before: Results | undefined): string {
  const line = (name: string, cells: string[]) => name.padEnd(36) + cells.map((cell) => cell.padStart(10)).join('');
  const old = new Map(before?.rows.map((row) => [row.name, row]));
  const requests = now.rows.map(({ name, aim, cost_ms, units, per_second }) =>
    line(name, [
      cost_ms.toFixed(2),
      old.get(name)?.units.toFixed(0) ?? '-',
      units.toFixed(0),
      `(${aim})`,
      old.get(name)?.per_second.toFixed(0) ?? '-',
      per_second.toFixed(0),
    ]),
  );
  const rest = REST.map(([name, aim, shown]) =>
    line(name, ['', (before && shown(before)) ?? '-', shown(now) ?? '-', `(${aim})`]),
  );
  return [
    before ? `before: ${before.date}, load ${before.load}, ${before.machine}` : 'before: no run is kept',
    '',
    line('CPU of a', ['ms', 'before', 'selects', '(aim)', 'a second', 'now']),
    ...requests,
    '',
    line('', ['', 'before', 'now', '(aim)']),
    ...rest,
  ].join('\n');
}
