import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../src/operation/config.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { documentedCommands } from './documented-commands.ts';
import { LONG_RUNS } from './run/long-runs.ts';

const ROOT = fileURLToPath(PACKAGE);
const DOCUMENTS = globSync(['*.md', '{src,web,test,bench,docs}/**/*.md'], {
  cwd: ROOT,
  exclude: ['test/clipboards/**'],
});
const OPTIONS = Object.keys(readConfig({}));
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const CODE = /```[\s\S]*?```|`[^`\n]*`/g;

test('links between documents lead to files that exist', () => {
  const broken = DOCUMENTS.flatMap((path) =>
    [
      ...textOf(path)
        .replaceAll(CODE, '')
        .matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g),
    ]
      .map(([, link = '']) => link)
      .filter((link) => !existsSync(join(ROOT, dirname(path), decodeURI(link))))
      .map((link) => `${path}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

/** Returns the ids that a document has as GitHub shows it: of its headings, and written in HTML. */
function idsOf(path: string): Set<string> {
  const text = textOf(path);
  const headings = [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/^#+ (.*)$/gm)];
  const written = [...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id);
  return new Set([
    ...headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
    ...written,
  ]);
}

test('links to a place in a document lead to a heading or an id that exists', () => {
  const links = DOCUMENTS.flatMap((path) =>
    [
      ...textOf(path)
        .replaceAll(CODE, '')
        .matchAll(/\]\((?!https?:|mailto:)([^)#\s]*\.md)?#([^)\s]+)\)/g),
    ].map(([, link, id = '']) => ({ path, to: link === undefined ? path : join(dirname(path), link), id })),
  );
  assert.ok(links.length > 20, 'they must be found');
  const broken = links.filter(({ to, id }) => !idsOf(to).has(id)).map(({ path, to, id }) => `${path}: ${to}#${id}`);
  assert.deepEqual(broken, []);
});

test('every message that the troubleshooting document quotes is a message of the service', () => {
  const source = globSync('{packages,src}/**/*.ts', { cwd: ROOT, exclude: (name) => name.endsWith('.test.ts') })
    .map(textOf)
    .join('\n');
  const quoted = [...textOf('docs/operations/troubleshoot.md').matchAll(/^\| (".*?") \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/"([^"]+)"/g)].flatMap(([, message = '']) => message.split('…').map((part) => part.trim())),
  );
  assert.ok(quoted.length > 20);
  assert.deepEqual(
    quoted.filter((part) => part.length > 2 && !source.includes(part)),
    [],
  );
});

test('options and metrics that the documents for operators name exist', () => {
  const source = globSync('{packages,src}/**/*.ts', { cwd: ROOT, exclude: (name) => name.endsWith('.test.ts') })
    .map(textOf)
    .join('\n');
  const unknown = ['README.md', ...DOCUMENTS.filter((path) => path.startsWith('docs/operations/'))].flatMap((path) => {
    const text = textOf(path);
    const options = [
      ...text.matchAll(/`(RATE_LIMIT\w*|MAX_\w+|DATABASE_\w+|SMTP_\w+|OIDC_\w+|\w+_PORT|WORKSPACE_\w+|WORKER_\w+)/g),
    ];
    const metrics = [...text.matchAll(/`ibid_(?:database_)?(\w+)/g)];
    return [
      ...options.map(([, name = '']) => name).filter((name) => !OPTIONS.includes(name)),
      ...metrics.map(([, name = '']) => name).filter((name) => !source.includes(name)),
    ].map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(unknown, []);
});

test('the commands in the documents for operators exist', () => {
  const usage = globSync('src/operation/cli/**/*.ts', { cwd: ROOT }).map(textOf).join('\n');
  const { scripts } = JSON.parse(textOf('package.json'));
  const commands = DOCUMENTS.filter((path) => path.startsWith('docs/operations/')).flatMap((path) =>
    [
      ...textOf(path).matchAll(
        /(?:npx ibid|`ibid|npx --yes \.\/ibid-[\d.]+\.tgz) (workspace [a-z-]+|jobs retry|[a-z-]+)|npm run ([\w:]+)/gm,
      ),
    ].map(([, ibid = '', script = '']) => ({ path, ibid, script })),
  );
  assert.ok(commands.length > 50, 'they must be found');
  const unknown = commands.filter(({ ibid, script }) =>
    script === '' ? !usage.includes(`ibid ${ibid}`) : !(script in scripts),
  );
  assert.deepEqual(unknown, []);
  const { version } = JSON.parse(textOf('package.json'));
  for (const path of ['README.md', 'docs/operations/install.md'])
    assert.deepEqual(
      [...textOf(path).matchAll(/ibid-([\d.]+)\.tgz/g)].map(([, named]) => named).filter((named) => named !== version),
      [],
      `${path} names the archive of this version`,
    );
});

test('a test runs each command of the documents for operators, or a reason says why no test can', () => {
  const commands = documentedCommands();
  assert.ok(commands.length > 60, `${commands.length} commands`);
  for (const { path, text, how } of commands) {
    if ('test' in how) assert.ok(existsSync(join(ROOT, how.test)), `${path}: ${text}`);
    else
      assert.match(
        text,
        /^(docker|apt-get|cp|ln|KEEP_NODE=1|mkdir|systemctl|npm audit|npm install --no-save|OTEL_\S+ npm start)\b/,
        `${path}: ${how.reason}`,
      );
  }
});

test('the benchmarks and long runs that documents name exist, and so do their files', () => {
  const usage = readFileSync(join(ROOT, 'bench/bench.ts'), 'utf8');
  const named = [...DOCUMENTS, '.ci/run'].flatMap((path) =>
    [...textOf(path).matchAll(/npm run (bench|test:long) -- ([a-z][a-z-]*)/g)].map(([, script, name = '']) => ({
      script,
      name,
    })),
  );
  assert.ok(named.length > 10, 'they must be found');
  const unknown = named.filter(
    ({ script, name }) => !(script === 'bench' ? usage.includes(`  ${name}: {`) : name in LONG_RUNS),
  );
  assert.deepEqual(unknown, []);
  const files = Object.values(LONG_RUNS).flatMap(({ commands }) => commands.flatMap(({ args }) => args));
  const missing = files.filter((file) => file.endsWith('.ts') && globSync(file, { cwd: ROOT }).length === 0);
  assert.deepEqual(missing, []);
});
