/** Commands of a long run, in order: the arguments of node, and the environment. */
export interface LongRun {
  what: string;
  commands: readonly { args: readonly string[]; env?: Readonly<Record<string, string>> }[];
}

/** Runs test files in processes of node:test, without a shared PostgreSQL. */
const alone = (files: readonly string[], env: Record<string, string> = {}) => ({
  args: ['--test', ...files],
  env: { IBID_TESTS: 'everything', ...env },
});
/** Runs a test file like `npm test`, where no test may take longer than `minutes`. */
const inRun = (file: string, minutes: number, env: Record<string, string>) => ({
  args: ['test/run.ts', file],
  env: { IBID_TESTS: 'everything', FILE_MINUTES: String(minutes), ...env },
});

/** Long forms of single tests: `npm run test:long -- NAME`. */
export const LONG_RUNS: Readonly<Record<string, LongRun>> = {
  kill: {
    what: 'kills the service, PostgreSQL, worker, syncs, backups and restores 300 times',
    commands: [
      alone(
        [
          'test/kill.test.ts',
          'test/kill-uploads.long.test.ts',
          'test/kill-sync.long.test.ts',
          'src/operation/backup/backup.test.ts',
          'test/operations/kills-under-attack.ts',
        ],
        { KILL_ROUNDS: '20', UPLOAD_KILLS: '100', SYNC_KILLS: '50', BACKUP_KILLS: '100' },
      ),
    ],
  },
  races: {
    what: '2, 20 and 100 concurrent callers at two processes, 200 rounds each',
    commands: [alone(['test/races.test.ts'], { RACE_ROUNDS: '200' })],
  },
  pairs: {
    what: 'every pair of writes that share rows, one of which meets the other directly before its commit',
    commands: [inRun('test/pairs.test.ts', 60, { PAIRS: 'all' })],
  },
  billing: {
    what: '100,000 schedules of payments and faults, 10,000 changes of plan',
    commands: [inRun('test/fuzz-billing.test.ts', 1_440, { BILLING_SCHEDULES: '100000', BILLING_CHANGES: '10000' })],
  },
  search: {
    what: '1,000,000 random queries while 100,000 documents change',
    commands: [
      alone(['src/wiki/search/**/*.test.ts', 'src/wiki/pages/search.test.ts'], {
        SEARCH_RUNS: '100000',
      }),
      inRun('test/fuzz-search.test.ts', 1_440, { SEARCH_QUERIES: '1000000', SEARCH_DOCUMENTS: '100000' }),
    ],
  },
  roundtrip: {
    what: 'reads and writes back every file of the test collections',
    commands: [alone(['test/roundtrip.test.ts'], { ROUND_TRIPS: '100000' })],
  },
  revocation: {
    what: 'ends access at one process while requests run at two, 1,000 times',
    commands: [alone(['test/revocation.test.ts'], { REVOCATION_TRIALS: '1000' })],
  },
  shifts: {
    what: 'opens every screen at every width on a slow line, in which nothing may move',
    commands: [alone(['web/screens.test.ts'], { EVERY_WIDTH: 'yes' })],
  },
  operations: {
    what: 'replicas, upgrades of PostgreSQL, rolling updates, recovery and fail-overs',
    commands: [
      alone(['test/replicas.test.ts'], { REPLICA_TRIALS: '10000' }),
      alone(['test/operations/upgrade.ts']),
      alone(['test/operations/rolling-update.ts']),
      alone(['test/operations/recovery.ts']),
      alone(['test/operations/documented-commands.ts']),
      { args: ['test/operations/fail-over.ts'], env: { FAIL_OVERS: '50' } },
    ],
  },
  package: { what: 'packs the checkout and runs the archive by npx', commands: [{ args: ['test/package.ts'] }] },
  previous: {
    what: 'the tests of an earlier release on the schema of this one: -- previous v0.1.0',
    commands: [{ args: ['test/previous-release.ts'] }],
  },
};
