import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '../src/config.ts';

/**
 * Who may import whom. Seen as a house, every arrow runs down: main and the command, the service that starts
 * everything, the list of endpoints, the features, what they share (http, jobs), what is outside (providers), the
 * database. An entry is a folder, a file, or a file of which only types may be known (`type …`).
 */
const DATABASE = ['db/sql.ts'];
const SHARED = [...DATABASE, 'http'];

/** Features of the organization stand side by side: each knows the others' records and nothing else of them. */
const ORGANIZATION = [
  'audit',
  'billing',
  'invitations',
  'keys',
  'members',
  'session',
  'webhooks',
  'widgets',
  'workspaces',
];
const SCHEMAS = [...ORGANIZATION.map((feature) => `${feature}/schema.ts`), 'wikis/schema.ts'];

/** Features of the content stand in one order: each may use those below it. */
const CONTENT: Record<string, string[]> = {
  search: [...SHARED, 'db/scope.ts', 'type db/db.ts', 'jobs'],
  wikis: [...SHARED, 'db/scope.ts', 'type db/db.ts', 'workspaces/schema.ts'],
  jobs: [...SHARED, 'db/scope.ts', 'type db/db.ts', 'wikis/schema.ts'],
  pages: [...SHARED, 'db/scope.ts', 'type db/db.ts', 'wikis/schema.ts', 'search'],
  attachments: [...SHARED, 'pages'],
  exports: [...SHARED, 'db/scope.ts', 'wikis/schema.ts', 'jobs', 'pages', 'type db/db.ts', 'type providers/blobs.ts'],
  sources: [...SHARED, 'wikis/schema.ts', 'search', 'pages', 'type providers/blobs.ts'],
  uploads: [
    ...SHARED,
    'db/scope.ts',
    'type db/db.ts',
    'wikis/schema.ts',
    'search',
    'pages',
    'sources',
    'jobs',
    'type providers/blobs.ts',
  ],
  ingest: [
    ...SHARED,
    'wikis/schema.ts',
    'search',
    'pages',
    'sources',
    'attachments',
    'uploads',
    'jobs',
    'type db/db.ts',
    'type providers/blobs.ts',
  ],
  imports: [
    ...SHARED,
    'wikis/schema.ts',
    'search',
    'pages',
    'attachments',
    'exports',
    'ingest',
    'jobs',
    'type db/db.ts',
    'type providers/blobs.ts',
  ],
};

const ALLOWED: Record<string, string[]> = {
  db: [],
  'config.ts': [],
  'compiled-code.ts': [],
  providers: [],
  http: [
    ...DATABASE,
    'type db/db.ts',
    'type db/scope.ts',
    'type jobs/job-changes.ts',
    'type pages/render.ts',
    'providers',
  ],
  ...CONTENT,
  ...Object.fromEntries(ORGANIZATION.map((feature) => [feature, [...SHARED, ...SCHEMAS, 'providers']])),
  'app.ts': ['type http/endpoint.ts', ...ORGANIZATION, ...Object.keys(CONTENT)],
  service: [
    '../web/web.ts',
    'app.ts',
    'type config.ts',
    'db',
    'http',
    'providers',
    'billing',
    'jobs',
    'ingest',
    'exports',
    'imports',
    'session',
    'pages/purge-trash.ts',
    'search',
    'wikis/remove-deleted.ts',
    'uploads/forget-uploads.ts',
    'webhooks',
  ],
  'main.ts': ['compiled-code.ts', 'config.ts', 'service', 'db/postgres-error.ts'],
  cli: ['config.ts', 'db', 'http', 'providers', 'sources'],
};

/** What a page of the web application needs besides the API: to read a cookie, to say what went wrong, to write text as HTML, to merge texts. */
const WEB_MAY = [
  '../src/http/browser-cookie.ts',
  '../src/core/errors.ts',
  '../src/core/escape-html.ts',
  '../src/markdown/merge-texts.ts',
];

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const files = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !file.endsWith('.test.ts'))
  .sort();
const imports = files.flatMap((file) => importsOf(file));

function importsOf(from: string, root = SRC): Import[] {
  const text = readFileSync(join(root, from), 'utf8');
  const statements = [
    ...text.matchAll(/^(?:import|export)\s(?<type>type\s)?[^;]*?from '(?<path>\.[^']+)'/gm),
    ...text.matchAll(/\b(?<type>)import\('(?<path>\.[^']+)'\)/g),
    ...text.matchAll(/^import (?<type>)'(?<path>\.[^']+)'/gm),
  ];
  return statements.map(({ groups }) => ({
    from,
    to: normalize(join(dirname(from), groups?.path ?? '')),
    isType: Boolean(groups?.type),
  }));
}

/** The folder right below src, or the file where it is in none. */
function placeOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function isAllowed({ from, to, isType }: Import): boolean {
  if (placeOf(from) === placeOf(to)) return true;
  const allowed = ALLOWED[placeOf(from)] ?? [];
  return allowed.some((entry) => entry === placeOf(to) || entry === to || (isType && entry === `type ${to}`));
}

test('every file imports only what stands below it', () => {
  const wrong = imports
    .filter((entry) => !isAllowed(entry))
    .map(({ from, to, isType }) => `${from} → ${isType ? 'type ' : ''}${to}`);
  assert.deepEqual(
    wrong,
    [],
    'move what is needed down to where both may reach it; ALLOWED in this file says who may import whom',
  );
});

const WEB = fileURLToPath(new URL('../web/', import.meta.url));

test('the web application knows the public API, and of its inside only how records are shaped', () => {
  const files = globSync('**/*.ts', { cwd: WEB }).filter((file) => !file.endsWith('.test.ts'));
  const wrong = files
    .flatMap((file) => importsOf(file, WEB))
    .filter(({ to }) => to.startsWith('../'))
    .filter(({ to, isType }) => !WEB_MAY.includes(to) && !(isType && /^\.\.\/src\/\w+\/(?:\w+-)?schema\.ts$/.test(to)))
    .map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(wrong, [], 'ask the API for it (web/api.ts)');
  const elements = files.filter((file) => file.startsWith('elements/')).flatMap((file) => importsOf(file, WEB));
  const outside = elements.filter(({ to }) => !to.startsWith('elements/')).map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(outside, [], 'what runs in a browser stands alone');
  assert.ok(files.length > 20 && elements.length > 5, 'the files and their imports must be found');
});

test('every folder of src has its place in the house', () => {
  const places = [...new Set(files.map(placeOf))];
  assert.deepEqual(
    places.filter((place) => !(place in ALLOWED)),
    [],
    'say in ALLOWED of this file what it may import',
  );
});

test('no files import each other in a circle', () => {
  const below = new Map<string, string[]>();
  for (const { from, to, isType } of imports) if (!isType) below.set(from, [...(below.get(from) ?? []), to]);
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    assert.ok(!path.includes(file), `these import each other in a circle: ${[...path, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of below.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test('options are read from the environment by the configuration alone', () => {
  const option = new RegExp(`process\\.env(\\.(${Object.keys(OPTIONS).join('|')})\\b|\\[)`);
  const readers = files.filter((file) => option.test(readFileSync(join(SRC, file), 'utf8')));
  assert.deepEqual(readers, [], 'take the value from the configuration, which is passed down');
});

test('there are no files that gather what has no name', () => {
  const gathering = files.filter((file) => /(^|\/)(index|utils?|helpers?|common|types|constants|misc)\.ts$/.test(file));
  assert.deepEqual(gathering, [], 'name the file by what it does');
  assert.ok(files.length > 50 && imports.length > 100, 'the files and their imports must be found');
});
