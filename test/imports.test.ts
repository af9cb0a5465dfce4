import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '../src/operation/config/options.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { noProblems } from './no-problems.ts';

/**
 * The folders and files in src, from the bottom up. A file imports only from its own folder and from those before it in
 * this list, types included. So everything before `db` is pure: no SQL, no requests and no processes.
 */
const LAYERS = [
  'core',
  'analysis',
  'markdown',
  'documents',
  'sandbox',
  'db',
  'tables',
  'providers',
  'access',
  'http',
  'jobs',
  'feature.ts',
  'blobs',
  'backup',
  // Content.
  'search',
  'wikis',
  'pages',
  'revisions',
  'attachments',
  'autosaves',
  'templates',
  'stars',
  'sources',
  'uploads',
  'ingest',
  'verification',
  'transfer',
  // The organization.
  'workspaces',
  'invitations',
  'members',
  'session',
  'keys',
  'widgets',
  'billing',
  'usage',
  'audit',
  'retention',
  'account',
  // Built on all of them.
  'widget-endpoints.ts',
  'app.ts',
  'config',
  'config.ts',
  'operator',
  'service',
  'compiled-code.ts',
  'cli',
  'main.ts',
];

/** Features of the organization import only the records of each other. */
const ORGANIZATION = LAYERS.slice(LAYERS.indexOf('workspaces'), LAYERS.indexOf('widget-endpoints.ts'));
const RECORDS = /^[a-z]+\/(schema|seats)\.ts$/;

/** Only these open connections, migrate or start a PostgreSQL; everything else gets a `Query`. */
const OPEN_DATABASES = ['db', 'operator', 'service', 'cli'];
const IS_FOR_ALL = ['db/sql.ts', 'db/json-object.ts', 'db/request-context.ts'];

/** Maximum number of files in a folder: a larger one is about more than one thing. Lists of what a feature has do not count. */
const FILES_MAX = 25;
const LISTS = /(^|\/)(feature|tables)\.ts$/;

/**
 * What a page of the web application imports besides the API: reading a cookie, refusals without a session, error messages, amounts, escaping HTML, a cache,
 * merging texts, variables of templates, names of what a file has and its text does not, the formats that are read, which files are hidden, what was built,
 * what error codes mean, and rendering a document for developers.
 */
const WEB_IMPORTS = [
  '../src/platform/http/browser-cookie.ts',
  '../src/platform/access/before-sign-in.ts',
  '../src/platform/access/network.ts',
  '../src/platform/core/errors.ts',
  '../src/platform/core/quotas.ts',
  '../packages/markdown/slugs/page-slug.ts',
  '../src/platform/http/to-api-error.ts',
  '../src/platform/core/escape-html.ts',
  '../src/platform/core/sized-cache.ts',
  '../packages/markdown/merge-texts.ts',
  '../src/wiki/templates/fill-template.ts',
  '../packages/documents/formats/loss-words.ts',
  '../packages/documents/formats/formats.ts',
  '../packages/documents/hidden-files.ts',
  '../src/platform/core/package/package-files.ts',
  '../src/platform/http/openapi/error-codes.ts',
  '../packages/markdown/render.ts',
];

/** What code for browsers has in common with the service besides shapes of records: how a slug is made, how texts are merged, what variables of templates become, which files are hidden. */
const BROWSER_IMPORTS = [
  '../src/platform/core/errors.ts',
  '../packages/markdown/slugs/page-slug.ts',
  '../packages/documents/hidden-files.ts',
  '../packages/markdown/merge-texts.ts',
  '../src/wiki/templates/fill-template.ts',
];

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const SRC = fileURLToPath(new URL('src/', PACKAGE));
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

/** The folder in src, or the file where it is in none. */
function placeOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function isAllowed({ from, to, isType }: Import): boolean {
  const [room, other] = [placeOf(from), placeOf(to)];
  if (room === other) return true;
  if (to === '../web/web.ts') return room === 'service';
  if (LAYERS.indexOf(other) > LAYERS.indexOf(room)) return false;
  if (ORGANIZATION.includes(room) && ORGANIZATION.includes(other)) return RECORDS.test(to);
  if (room === 'providers') return other === 'core';
  if (other === 'db') return isType || IS_FOR_ALL.includes(to) || OPEN_DATABASES.includes(room);
  if (other === 'config.ts') return isType || room === 'main.ts' || room === 'cli';
  return true;
}

test('every file imports only from layers below it', () => {
  const wrong = imports
    .filter((entry) => !isAllowed(entry))
    .map(({ from, to, isType }) => `${from} → ${isType ? 'type ' : ''}${to}`);
  assert.deepEqual(wrong, [], 'move what is needed down to where both may reach it; LAYERS in this file is the order');
});

const WEB = fileURLToPath(new URL('web/', PACKAGE));

test('the web application imports the public API, and from the inside only the shapes of records', () => {
  const files = globSync('**/*.ts', { cwd: WEB }).filter((file) => !file.endsWith('.test.ts'));
  const wrong = files
    .flatMap((file) => importsOf(file, WEB))
    .filter(({ to }) => to.startsWith('../'))
    .filter(
      ({ to, isType }) =>
        !WEB_IMPORTS.includes(to) && !(isType && /^\.\.\/src\/(?:\w+\/)+(?:schema|seats)\.ts$/.test(to)),
    )
    .map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(wrong, [], 'use the API instead (web/api.ts)');
  const elements = files.filter((file) => file.startsWith('elements/')).flatMap((file) => importsOf(file, WEB));
  const outside = elements
    .filter(({ to, isType }) => !to.startsWith('elements/') && !isType && !BROWSER_IMPORTS.includes(to))
    .map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(outside, [], 'code for browsers imports nothing else');
  assert.ok(files.length > 20 && elements.length > 5, 'the files and their imports must be found');
});

test('every folder of src has its place in the order', () => {
  const places = [...new Set(files.map(placeOf))];
  assert.deepEqual(
    places.filter((place) => !LAYERS.includes(place)),
    [],
    'add it to LAYERS in test/imports.test.ts, behind the folders that it imports',
  );
  assert.deepEqual(
    LAYERS.filter((place) => !places.includes(place)),
    [],
    'remove missing folders from LAYERS',
  );
});

test('no files import each other in a circle, including types', () => {
  const below = new Map<string, string[]>();
  const web = globSync('**/*.ts', { cwd: WEB }).filter((file) => !file.endsWith('.test.ts'));
  const ofWeb = web
    .flatMap((file) => importsOf(file, WEB))
    .map(({ from, to }) => ({ from: `../web/${from}`, to: normalize(join('../web', to)) }));
  for (const { from, to } of [...imports, ...ofWeb]) below.set(from, [...(below.get(from) ?? []), to]);
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    assert.ok(!path.includes(file), `these import each other in a circle: ${[...path, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of below.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of below.keys()) walk(file, []);
});

test('only the configuration reads options from the environment', () => {
  const option = new RegExp(`process\\.env(\\.(${Object.keys(OPTIONS).join('|')})\\b|\\[)`);
  const readers = files.filter((file) => option.test(readFileSync(join(SRC, file), 'utf8')));
  assert.deepEqual(readers, [], 'take the value from the configuration, which is passed down');
});

test('no file is named after a miscellany', () => {
  const gathering = files.filter((file) => /(^|\/)(index|utils?|helpers?|common|types|constants|misc)\.ts$/.test(file));
  assert.deepEqual(gathering, [], 'name the file after what it does');
  assert.ok(files.length > 50 && imports.length > 100, 'the files and their imports must be found');
});

test(`no folder holds more than ${FILES_MAX} files`, () => {
  const web = globSync('**/*.ts', { cwd: WEB }).map((file) => `../web/${file}`);
  const counts = new Map<string, number>();
  for (const file of [...files, ...web.filter((file) => !file.endsWith('.test.ts'))]) {
    if (LISTS.test(file)) continue;
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > FILES_MAX);
  assert.deepEqual(crowded, [], `split the folder by what its files are about; at most ${FILES_MAX}`);
});

test('the diagram in ARCHITECTURE.md shows the actual imports', () => {
  const text = readFileSync(new URL('ARCHITECTURE.md', PACKAGE), 'utf8');
  const lines = /```mermaid\nflowchart TB\n([\s\S]*?)```/.exec(text)?.[1]?.trim().split('\n') ?? [];
  const groupOf = new Map<string, string>();
  const drawn = new Set<string>();
  for (const line of lines) {
    const [, group = '', label, targets] = /^ *(\w+)(?:\["\w+: ([^"]*)"\])?(?: --> (.*))?$/.exec(line) ?? [];
    for (const place of label?.split(', ') ?? [group]) groupOf.set(place.replace(/\/$/, ''), group);
    for (const target of targets?.split(' & ') ?? []) drawn.add(`${group} --> ${target}`);
  }
  // They read options, and are imported by entry points.
  for (const place of ['config', 'config.ts', 'compiled-code.ts']) groupOf.set(place, 'start');
  const undrawn = LAYERS.filter((place) => files.some((file) => placeOf(file) === place) && !groupOf.has(place));
  noProblems(
    undrawn.map(
      (place) =>
        `add ${place} to the label of its group in the first diagram of ARCHITECTURE.md, such as content["content: wikis, pages, …"]`,
    ),
  );
  const groupIn = (file: string) =>
    groupOf.get(placeOf(file)) ?? `${placeOf(file)} (in LAYERS and the diagram missing)`;
  const real = new Map<string, string>();
  for (const { from, to } of imports) {
    if (to.startsWith('../') || groupIn(from) === groupIn(to)) continue;
    const arrow = `${groupIn(from)} --> ${groupIn(to)}`;
    if (!real.has(arrow)) real.set(arrow, `${from} imports ${to}`);
  }
  const problems = [
    ...[...real]
      .filter(([arrow]) => !drawn.has(arrow))
      .map(([arrow, why]) => `draw ${arrow} in ARCHITECTURE.md: ${why}`),
    ...[...drawn]
      .filter((arrow) => !real.has(arrow))
      .map((arrow) => `remove ${arrow} from ARCHITECTURE.md: no file imports so`),
  ];
  noProblems(problems);
});

test('the records of pages load no parser of Markdown', () => {
  const loaded = new Set(['pages/schema.ts']);
  for (const file of loaded) {
    for (const { from, to, isType } of imports) if (from === file && !isType) loaded.add(to);
  }
  assert.ok(loaded.size > 5, 'the imports must be found');
  assert.ok(!loaded.has('markdown/parse-markdown.ts'), 'put functions that read Markdown beside pages/shown-page.ts');
});
