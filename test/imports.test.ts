import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '../src/operation/config/options.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { noProblems } from './no-problems.ts';

/**
 * Layers from the bottom up: the packages, then the folders of src by group. A file imports, types included, only from
 * its own folder and from earlier entries of this list. Everything before `platform/db` is therefore free of SQL,
 * requests and processes, except the processes of the sandbox.
 */
const LAYERS = [
  'packages/markdown',
  'packages/documents',
  'packages/postgres-server',
  'platform/core',
  'platform/sandbox',
  'platform/db',
  'platform/tables',
  'platform/providers',
  'platform/access',
  'platform/http',
  'platform/jobs',
  'platform/feature.ts',
  'platform/blobs',
  'wiki/search',
  'wiki/wikis',
  'wiki/pages',
  'wiki/revisions',
  'wiki/attachments',
  'wiki/autosaves',
  'wiki/templates',
  'wiki/stars',
  'wiki/restrictions',
  'sources/records',
  'sources/uploads',
  'sources/ingest',
  'sources/verification',
  'sources/transfer',
  'organization/workspaces',
  'organization/invitations',
  'organization/members',
  'organization/session',
  'organization/keys',
  'organization/widgets',
  'organization/billing',
  'organization/usage',
  'organization/audit',
  'organization/retention',
  'organization/account',
  'organization/widget-endpoints.ts',
  'operation/backup',
  'app.ts',
  'operation/config',
  'operation/config.ts',
  'operation/operator',
  'operation/service',
  'operation/compiled-code.ts',
  'operation/cli',
  'main.ts',
];

/** Features of the organization import only each other's records. */
const ORGANIZATION = LAYERS.filter((place) => /^organization\/\w+$/.test(place));
const RECORDS = /\/(schema|seats)\.ts$/;

/** Only these folders open connections, migrate or start a PostgreSQL; all other code gets a `Query`. */
const OPEN_DATABASES = ['platform/db', 'operation/operator', 'operation/service', 'operation/cli'];
const IS_FOR_ALL = ['src/platform/db/sql.ts', 'src/platform/db/json-object.ts', 'src/platform/db/request-context.ts'];

/**
 * Maximum number of files in a folder: a larger folder is about more than one thing. Files that list the parts of a
 * feature do not count.
 */
const FILES_MAX = 25;
const LISTS = /(^|\/)(feature|tables)\.ts$/;

/** Modules that pages of the web application import besides the API. */
const WEB_IMPORTS = [
  'src/platform/http/browser-cookie.ts',
  'src/platform/access/before-sign-in.ts',
  'src/platform/access/network.ts',
  'src/platform/core/errors.ts',
  'src/platform/core/quotas.ts',
  'packages/markdown/slugs/page-slug.ts',
  'src/platform/http/to-api-error.ts',
  'src/platform/core/escape-html.ts',
  'src/platform/core/sized-cache.ts',
  'packages/markdown/compare/merge-texts.ts',
  'src/wiki/templates/fill-template.ts',
  'packages/documents/formats/loss-words.ts',
  'packages/documents/formats/formats.ts',
  'packages/documents/hidden-files.ts',
  'src/platform/core/package/package-files.ts',
  'src/platform/http/openapi/error-codes.ts',
  'packages/markdown/render.ts',
];

/** Modules that code for browsers shares with the service, besides the shapes of records. */
const BROWSER_IMPORTS = [
  'src/platform/core/errors.ts',
  'packages/markdown/slugs/page-slug.ts',
  'packages/documents/hidden-files.ts',
  'packages/markdown/compare/merge-texts.ts',
  'src/wiki/templates/fill-template.ts',
];

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const ROOT = fileURLToPath(PACKAGE);
const filesIn = (folders: string) =>
  globSync(`${folders}/**/*.ts`, { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts') && !file.includes('node_modules'))
    .sort();
const files = filesIn('{packages,src}');
const web = filesIn('web');
const imports = files.flatMap(importsOf);
const ofWeb = web.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(join(ROOT, from), 'utf8');
  const statements = [
    ...text.matchAll(/^(?:import|export)\s(?<type>type\s)?[^;]*?from '(?<path>(?:\.|@ibid\/)[^']+)'/gm),
    ...text.matchAll(/\b(?<type>)import\('(?<path>(?:\.|@ibid\/)[^']+)'\)/g),
    ...text.matchAll(/^import (?<type>)'(?<path>(?:\.|@ibid\/)[^']+)'/gm),
  ];
  return statements.map(({ groups: { path = '', type } = {} }) => ({
    from,
    to: path.startsWith('.') ? normalize(join(dirname(from), path)) : path.replace('@ibid/', 'packages/'),
    isType: Boolean(type),
  }));
}

/** Returns the package or the folder of src that a file belongs to, or the file itself if it is in neither. */
function placeOf(file: string): string {
  return /^(?:packages\/[^/]+|src\/[^/]+\/[^/]+|src\/[^/]+)/.exec(file)?.[0].replace(/^src\//, '') ?? file;
}

function isAllowed({ from, to, isType }: Import): boolean {
  const [place, other] = [placeOf(from), placeOf(to)];
  if (place === other) return true;
  if (to === 'web/web.ts') return place === 'operation/service';
  if (LAYERS.indexOf(other) > LAYERS.indexOf(place)) return false;
  if (ORGANIZATION.includes(place) && ORGANIZATION.includes(other)) return RECORDS.test(to);
  if (place === 'platform/providers') return other === 'platform/core' || other.startsWith('packages/');
  if (other === 'platform/db') return isType || IS_FOR_ALL.includes(to) || OPEN_DATABASES.includes(place);
  if (other === 'operation/config.ts') return isType || place === 'main.ts' || place === 'operation/cli';
  return true;
}

test('every file imports only from layers below it', () => {
  const wrong = imports
    .filter((entry) => !isAllowed(entry))
    .map(({ from, to, isType }) => `${from} → ${isType ? 'type ' : ''}${to}`);
  assert.deepEqual(wrong, [], 'move what is needed down to where both may reach it; LAYERS in this file is the order');
});

/**
 * Matches packages that a module imports, statically or on demand, or resolves. Type imports do not count: they do not
 * exist at run time.
 */
const NAMED =
  /^(?:import|export)\s(?!type\b)[^;]*?from '(?<name>[^'.][^']*)'|\b(?:import|import\.meta\.resolve)\('(?<asked>[^'.][^']*)'\)(?!\.)/gm;

test('a package imports nothing of this repository but packages, and its package.json lists its imports', () => {
  for (const folder of globSync('packages/*', { cwd: ROOT })) {
    const ours = imports.filter(({ from, to }) => from.startsWith(`${folder}/`) && !to.startsWith('packages/'));
    assert.deepEqual(ours, [], `move into ${folder} what it needs, or out of it what needs the service`);
    const names = filesIn(folder)
      .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(NAMED)])
      .map(({ groups: { name, asked = '' } = {} }) => name ?? asked)
      .filter((name) => !name.startsWith('node:'))
      .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '');
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    assert.deepEqual(
      Object.keys(dependencies).toSorted(),
      [...new Set(names)].toSorted(),
      `correct dependencies in ${folder}/package.json, then run npm install`,
    );
  }
});

test('the web application imports the public API, and internal modules only for the shapes of records', () => {
  const wrong = ofWeb
    .filter(({ to }) => !to.startsWith('web/'))
    .filter(
      ({ to, isType }) => !WEB_IMPORTS.includes(to) && !(isType && /^src\/(?:\w+\/)+(?:schema|seats)\.ts$/.test(to)),
    )
    .map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(wrong, [], 'use the API instead (web/api.ts)');
  const elements = ofWeb.filter(({ from }) => from.startsWith('web/elements/'));
  const outside = elements
    .filter(({ to, isType }) => !to.startsWith('web/elements/') && !isType && !BROWSER_IMPORTS.includes(to))
    .map(({ from, to }) => `${from} → ${to}`);
  assert.deepEqual(outside, [], 'code for browsers imports nothing else');
  assert.ok(web.length > 20 && elements.length > 5, 'the files and their imports must be found');
});

test('every folder has a place in the list of layers', () => {
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

test('no files import each other in a cycle, including types', () => {
  const below = new Map<string, string[]>();
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
  const readers = files.filter((file) => option.test(readFileSync(join(ROOT, file), 'utf8')));
  assert.deepEqual(readers, [], 'take the value from the configuration, which is passed down');
});

test('no file has a catch-all name', () => {
  const gathering = files.filter((file) => /(^|\/)(index|utils?|helpers?|common|types|constants|misc)\.ts$/.test(file));
  assert.deepEqual(gathering, [], 'name the file after what it does');
  assert.ok(files.length > 50 && imports.length > 100, 'the files and their imports must be found');
});

test(`no folder holds more than ${FILES_MAX} files`, () => {
  const counts = new Map<string, number>();
  for (const file of [...files, ...web]) {
    if (LISTS.test(file)) continue;
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > FILES_MAX);
  assert.deepEqual(crowded, [], `split the folder by what its files are about; at most ${FILES_MAX}`);
});

test('the picture in ARCHITECTURE.md shows the actual imports of folders and packages', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const lines = /```mermaid\nflowchart TB\n([\s\S]*?)```/.exec(text)?.[1]?.trim().split('\n') ?? [];
  const drawn = lines.flatMap((line) => {
    const [, room = '', targets = ''] = /^ *([\w-]+)(?:\["[^"]*"\])?(?: --> (.*))?$/.exec(line) ?? [];
    return targets === '' ? [] : targets.split(' & ').map((target) => `${room} --> ${target}`);
  });
  // app.ts and main.ts are in no folder; the picture shows them with the code that starts the service.
  const roomOf = (file: string) => /^(?:packages|src)\/([^/.]+)(?=\/)/.exec(file)?.[1] ?? 'operation';
  const real = new Map<string, string>();
  for (const { from, to } of imports) {
    if (!/^(?:packages|src)\//.test(to) || roomOf(from) === roomOf(to)) continue;
    const arrow = `${roomOf(from)} --> ${roomOf(to)}`;
    if (!real.has(arrow)) real.set(arrow, `${from} imports ${to}`);
  }
  noProblems([
    ...[...real]
      .filter(([arrow]) => !drawn.includes(arrow))
      .map(([arrow, why]) => `draw ${arrow} in the first picture of ARCHITECTURE.md, or do without the import: ${why}`),
    ...drawn
      .filter((arrow) => !real.has(arrow))
      .map((arrow) => `remove ${arrow} from ARCHITECTURE.md: no file imports so`),
  ]);
});

test('the records of pages load no Markdown parser', () => {
  const loaded = new Set(['src/wiki/pages/schema.ts']);
  for (const file of loaded) {
    for (const { from, to, isType } of imports) if (from === file && !isType) loaded.add(to);
  }
  assert.ok(loaded.size > 5, 'the imports must be found');
  assert.ok(
    !loaded.has('packages/markdown/parse-markdown.ts'),
    'put functions that read Markdown beside pages/shown-page.ts',
  );
});
