import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { extent } from './extent.ts';
import { randomNumbers } from './random-numbers.ts';
import type { Answer, Client } from './world.ts';

/**
 * RACE_ROUNDS: number of rounds of each race; a few by default. RACE_CALLERS: numbers of callers. RACE_SEED repeats the
 * assignment of calls to processes.
 */
const ROUNDS = Number(process.env.RACE_ROUNDS || 0);
const SEED = Number(process.env.RACE_SEED || Date.now() % 1_000_000);
const CALLERS = (process.env.RACE_CALLERS || extent('2,20,100', '2,20')).split(',').map(Number);

/** Rounds by number of callers, if RACE_ROUNDS is unset. */
const DEFAULT_ROUNDS: Record<number, number> = extent<Record<number, number>>({ 2: 4, 20: 4, 100: 1 }, { 2: 1, 20: 1 });

/** One round: a new object or user that all callers compete for. */
interface Round {
  call(i: number, at: (client: Client) => Client): Promise<Answer>;
  /** Number of winners; by default the answers below 300. */
  winners?(answers: Answer[]): number;
  /** Expected number of winners; by default one. */
  expectedWinners?: number;
  /** Allowed answers of losers, as status and code. Any other answer is a violation. */
  allowedErrors: readonly string[];
  check?(answers: Answer[]): void | Promise<void>;
}

export interface Race {
  name: string;
  prepare(callers: number, round: number): Promise<Round>;
  /** Numbers of callers, for races that are expensive or have several winners. */
  only?: number[];
  /** Divides the number of rounds. */
  oneOf?: number;
}

interface Line {
  race: string;
  callers: number;
  rounds: number;
  calls: number;
  winners: number;
  violations: number;
  statuses: string;
}

/** Defines a test for each race and number of callers, and a last test that prints the table. */
export function testRaces(races: readonly Race[], processesOf: (client: Client) => Client[]): void {
  const lines: Line[] = [];
  for (const race of races) {
    for (const callers of race.only ?? CALLERS) {
      test(`${race.name} (${callers} at once)`, async () => {
        const { line, violations } = await runRace(race, callers, processesOf);
        lines.push(line);
        assert.deepEqual(violations.slice(0, 20), [], `seed ${SEED}: ${violations.length} violations`);
      });
    }
  }
  test('the races print their table', (t) => {
    printTable(t, lines);
    assert.equal(
      lines.reduce((sum, { violations }) => sum + violations, 0),
      0,
    );
  });
}

async function runRace(race: Race, callers: number, processesOf: (client: Client) => Client[]) {
  const random = randomNumbers(SEED);
  const rounds = Math.ceil((ROUNDS || DEFAULT_ROUNDS[callers] || 1) / (race.oneOf ?? 1));
  const statuses: Record<string, number> = {};
  const violations: string[] = [];
  let winners = 0;
  for (let number = 0; number < rounds; number += 1) {
    const where = `round ${number}`;
    const round = await race.prepare(callers, number);
    // Calls both processes; the order and the assignment of callers are random.
    const turns = Array.from({ length: callers }, (_, i) => ({ i, turn: random() })).sort((a, b) => a.turn - b.turn);
    const answers = await Promise.all(
      turns.map(({ i }, place) => round.call(i, (client) => processesOf(client)[place % 2] as Client)),
    );
    for (const answer of answers) {
      const told = resultOf(answer);
      statuses[told] = (statuses[told] ?? 0) + 1;
      if (answer.status >= 300 && !round.allowedErrors.includes(told))
        violations.push(`${where}: a caller was told ${told}`);
    }
    const won = round.winners ? round.winners(answers) : answers.filter(({ status }) => status < 300).length;
    winners += won;
    const wanted = round.expectedWinners ?? 1;
    if (won !== wanted) violations.push(`${where}: ${won} won where ${wanted} should`);
    try {
      await round.check?.(answers);
    } catch (error) {
      violations.push(`${where}: ${(error as Error).message}`);
    }
  }
  const told = Object.entries(statuses).sort(([a], [b]) => (a < b ? -1 : 1));
  const line: Line = {
    race: race.name,
    callers,
    rounds,
    calls: rounds * callers,
    winners,
    violations: violations.length,
    statuses: told.map(([status, count]) => `${status}: ${count}`).join(', '),
  };
  return { line, violations };
}

function resultOf({ status, body }: Answer): string {
  return status < 300 ? String(status) : `${status} ${body.error}`;
}

function printTable(t: TestContext, lines: Line[]): void {
  const head = { callers: 'at once', rounds: 'rounds', calls: 'calls', winners: 'winners', violations: 'violations' };
  const rows = [{ ...head, race: 'race', statuses: 'answers' }, ...lines].map((line) => [
    String(line.callers),
    String(line.rounds),
    String(line.calls),
    String(line.winners),
    String(line.violations),
    line.race,
    line.statuses,
  ]);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  t.diagnostic(`seed ${SEED}`);
  for (const row of rows)
    t.diagnostic(
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
