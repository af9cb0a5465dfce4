import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { freePort, makeFolder } from './process.ts';
import { STRIPE_KEY, startStripeServer, WEBHOOK_SECRET } from './stripe/server.ts';
import { until } from './until.ts';

const ROOT = fileURLToPath(PACKAGE);
const PAGE = readFileSync(join(ROOT, 'docs/operations/billing.md'), 'utf8');
/** The shell blocks of the page, in order. */
const BLOCKS = [...PAGE.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);

const stripe = await startStripeServer();
cleanUp(() => stripe.stop());
const port = await freePort();
const DATA_DIR = join(await makeFolder(), 'data');

/** One shell for all blocks, as the page says; `npm start` keeps running in its background. */
const shell = spawn('bash', ['--noprofile', '--norc'], {
  cwd: ROOT,
  env: {
    PATH: process.env.PATH,
    ...{ DATA_DIR, PORT: String(port), STRIPE_API_URL: `${stripe.url}`, LOG_LEVEL: 'error' },
    ...{ RATE_LIMITS: 'off', MAIL_FROM: 'wiki@example.com' },
  },
});
const output = { out: '', error: '' };
shell.stdout.setEncoding('utf8').on('data', (text) => (output.out += text));
shell.stderr.setEncoding('utf8').on('data', (text) => (output.error += text));
// Runs before the folder is removed: the service restarts a PostgreSQL that was killed.
cleanUp(async () => {
  shell.stdin.end('[ -n "$SERVICE" ] && kill "$SERVICE" && wait "$SERVICE"\nexit 0\n');
  await once(shell, 'exit');
});

const node = `'${process.execPath}'`;
shell.stdin.write(`set -o pipefail
ibid() { ${node} src/operation/cli/ibid.ts "$@"; }
start() { ${node} src/main.ts >&2 & SERVICE=$!; }
`);

/** Replaces the page's placeholders and commands with the values of this test. */
function here(block: string): string {
  return block
    .replaceAll('sk_test_…', STRIPE_KEY)
    .replaceAll('https://api.stripe.com', stripe.url)
    .replaceAll('https://wiki.example.com', `http://127.0.0.1:${port}`)
    .replaceAll(/\bnpx ibid\b/g, 'ibid')
    .replaceAll(/\bnpm start\b/g, 'start');
}

let blocks = 0;

/** Runs the next block and returns its output. Every command of the block must succeed. */
async function next(contains: string): Promise<string> {
  const block = BLOCKS[blocks++] ?? '';
  assert.ok(block.includes(contains), `block ${blocks} is the one with ${contains}:\n${block}`);
  const before = output.out.length;
  const mark = `-- end of block ${blocks}`;
  shell.stdin.write(`trap 'echo "-- failed: $BASH_COMMAND"' ERR\n${here(block)}\ntrap - ERR\necho; echo '${mark}'\n`);
  await until(
    `block ${blocks} has run`,
    async () => output.out.slice(before) + output.error,
    (text) => text.includes(mark),
  );
  const printed = output.out.slice(before).split(mark)[0] ?? '';
  assert.ok(!printed.includes('-- failed:'), `${block}\n${printed}\n${output.error}`);
  return printed;
}

const answers = (printed: string): any[] =>
  printed
    .split(/\n|(?<=\})(?=\{)/)
    .filter((line) => line.startsWith('{'))
    // curl prints no line break after an answer.
    .map((line) => JSON.parse(line.slice(0, line.lastIndexOf('}') + 1)));

test('the billing page leads from an empty Stripe account to the first paid seat, command by command', async () => {
  await next('price team_monthly');
  const { plans } = JSON.parse(readFileSync(join(ROOT, 'src/organization/billing/plans.json'), 'utf8'));
  const paid = plans.filter((plan: { checkout: string }) => plan.checkout === 'subscription');
  const wanted = paid.map(({ plan_id, currency, unit_amount, interval }: Record<string, unknown>) => [
    ...[plan_id, currency, unit_amount, interval],
  ]);
  const made = [...stripe.account.prices.values()];
  assert.deepEqual(
    made.map(({ lookup_key, currency, unit_amount, interval }) => [lookup_key, currency, unit_amount, interval]),
    wanted,
    'a price for each paid plan of the catalogue',
  );

  await next('webhook_endpoints');
  assert.equal(stripe.account.endpoint?.url, `http://127.0.0.1:${port}/v1/webhooks/stripe`);
  shell.stdin.write('echo "secret: $STRIPE_WEBHOOK_SECRETS"\n');
  await until(
    'the secret is there',
    async () => output.out,
    (text) => text.includes(`secret: ${WEBHOOK_SECRET}\n`),
  );

  await next('npm start');
  await until(
    'the service is ready',
    async () => [await fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String), output.error],
    ([status]) => status === 200,
  );

  const [free] = answers(await next('npx ibid key'));
  assert.deepEqual([free.status, free.plan_id, free.seats.granted, free.seats.unlimited], ['none', '', 3, false]);

  const [preview, checkout] = answers(await next('/checkout'));
  assert.equal(preview.total, 8);
  const page = await fetch(checkout.url, { method: 'POST', redirect: 'manual' });
  assert.equal(page.status, 303, 'the page of the payment leads back');
  await stripe.webhooks.idle();
  assert.ok(stripe.webhooks.events.length > 0);
  assert.deepEqual(stripe.webhooks.take(), [], 'each event was accepted at the address of the endpoint');

  const last = BLOCKS[blocks];
  const printed = await until(
    'the workspace is paid',
    async () => {
      blocks = BLOCKS.indexOf(last ?? '');
      return next('npx ibid plan');
    },
    (text) => text.includes('"status":"active"'),
  );
  const [billing] = answers(printed);
  assert.deepEqual([billing.plan_id, billing.quantity, billing.seats.granted], ['team_monthly', 1, 1]);
  assert.match(printed, /ada: team_monthly, 1 seats, until \d{4}-\d\d-\d\d, paid as sub_/);
});

test('the commands for plans without a payment do as documented, and cannot change a plan that is paid at Stripe', async () => {
  shell.stdin.write(`wiki workspaces -d '{"name": "Acme"}'\necho; echo 'acme is made'\n`);
  await until(
    'the workspace is made',
    async () => output.out + output.error,
    (text) => text.includes('acme is made'),
  );
  const printed = (await next('npx ibid plan acme')).split('\n').filter((line) => line.startsWith('acme: '));
  assert.match(printed[0] ?? '', /^acme: no plan/);
  assert.match(printed[1] ?? '', /^acme: enterprise, .*until 2027-12-31/);
  assert.match(printed[2] ?? '', /^acme: team_annual, 50 seats/);
  assert.match(printed[3] ?? '', /^acme: no plan/);
  assert.equal(blocks, BLOCKS.length, 'every block was run');
  shell.stdin.write('ibid plan "$WORKSPACE" free; echo "it ended with $?"\n');
  await until(
    'the command has ended',
    async () => output.out + output.error,
    (text) => text.includes('it ended with'),
  );
  assert.match(output.out, /it ended with 1/);
});
