import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Runs the fuzzers one after another, for longer than `npm test` does; see CONTRIBUTING.md. */
const FUZZERS = [
  'api',
  'connections',
  'markdown',
  'documents',
  'faults',
  'billing',
  'search',
  'web',
  'editor',
  'views',
  'typing',
];
/** Fuzzers that `npm test` does not run, not even in short: a browser journey covers a part of them. */
const LONG_ONLY: Record<string, string> = {
  views: 'fuzz/editor-views.ts',
  typing: 'fuzz/typing-crashes.ts',
};
const USAGE = `Usage: npm run fuzz -- [options]
  --minutes 60       how long in all, in equal parts
  --only api,web     only these of ${FUZZERS.join(', ')}
  --seed N           only this seed, as a failure prints it
  --path 0:1:2       only this case of the seed, as a failure prints it
Exits with 1 where a guarantee did not hold.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string', default: FUZZERS.join(',') },
    seed: { type: 'string' },
    path: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const chosen = values.only.split(',');
const unknown = chosen.filter((name) => !FUZZERS.includes(name));
const minutes = Number(values.minutes);
if (values.help || unknown.length > 0 || !(minutes > 0)) {
  process.stdout.write(unknown.length > 0 ? `There is no fuzzer ${unknown.join(', ')}.\n${USAGE}` : USAGE);
  process.exit(values.help ? 0 : 1);
}

const failed: string[] = [];
for (const name of chosen) {
  process.stdout.write(`\n${name}\n`);
  if ((await run(name)) !== 0) failed.push(name);
}
if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

function run(name: string): Promise<number> {
  const file = fileURLToPath(new URL(LONG_ONLY[name] ?? `fuzz-${name}.test.ts`, import.meta.url));
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  const env = {
    ...process.env,
    FUZZ_MINUTES: String(minutes / chosen.length),
    ...(values.seed !== undefined && { FUZZ_SEED: values.seed }),
    ...(values.path !== undefined && { FUZZ_PATH: values.path }),
  };
  const runner = spawn(process.execPath, [fileURLToPath(new URL('run.ts', import.meta.url)), file], {
    stdio: 'inherit',
    env,
  });
  return new Promise((resolve) => runner.on('exit', (code) => resolve(code ?? 1)));
}
