import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { ENDPOINTS } from '../src/app.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { openDb } from '../src/platform/db/db.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { describeApi } from '../src/platform/http/openapi/document.ts';
import { EXPLAINED_ERRORS } from '../src/platform/http/openapi/error-codes.ts';
import { operationId } from '../src/platform/http/openapi/operation-id.ts';
import { describeForReference } from '../src/platform/http/openapi/reference.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { generatedFiles } from './generated.ts';
import { makeEmptyDatabase } from './world.ts';

interface Media {
  schema: object;
  example?: unknown;
}

interface Reply {
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Reply>;
}

const db = openDb({ connection: { connectionString: await makeEmptyDatabase() }, connections: 1 });
cleanUp(() => db.close());
await migrate(db);

for (const [name, text] of Object.entries(await generatedFiles(db.query))) {
  test(`${name} matches the code`, async () => {
    const committed = await readFile(new URL(name, PACKAGE), 'utf8');
    const there = committed.split('\n');
    const line = text.split('\n').findIndex((now, i) => now !== there[i]);
    assert.ok(
      committed === text,
      `${name} differs from line ${line + 1} on. Run \`npm run accept\`, read what it changes, and commit it with the change.`,
    );
  });
}

// Serialized as in the file: JSON drops some values.
const description = JSON.parse(JSON.stringify(describeApi(ENDPOINTS)));
const operations = Object.entries(description.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: description.components });

function assertMatches(media: Media, what: string): void {
  const isValid = ajv.compile(JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"api#/')));
  assert.notEqual(media.example, undefined, `${what} needs an example`);
  assert.ok(isValid(media.example), `the example of ${what} must match its schema: ${ajv.errorsText(isValid.errors)}`);
}

test('openapi.json has each endpoint of the list once, with its own operationId', () => {
  assert.equal(operations.length, ENDPOINTS.length);
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    'each summary must give a unique operationId: change one of them',
  );
  for (const endpoint of ENDPOINTS) assert.match(operationId(endpoint), /^[a-z]+[a-zA-Z]+$/);
});

interface Parts {
  type?: string;
  title?: string;
  properties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
}

/** Returns the records in a schema: its objects with fields. */
function recordsOf(schema: TSchema): Parts[] {
  const parts = schema as TSchema & Parts;
  const { type, properties = {}, items, anyOf = [] } = parts;
  return [
    ...(type === 'object' && Object.keys(properties).length > 0 ? [parts] : []),
    ...[...Object.values(properties), ...(items ? [items] : []), ...anyOf].flatMap(recordsOf),
  ];
}

test('every record in a body or an answer has a name of its own', () => {
  const names = new Map<string, string>();
  const records = new Map<string, string>();
  for (const { method, path, status, reply, body } of ENDPOINTS) {
    const answered = status === 204 ? [] : [reply];
    const taken = Object.values((body as Parts | undefined)?.properties ?? {});
    for (const { title, ...parts } of [...answered, ...taken].flatMap(recordsOf)) {
      const record = JSON.stringify(parts);
      const where = `${method} ${path}: ${record.slice(0, 200)}`;
      assert.match(title ?? '', /^[A-Z][A-Za-z]+$/, `${where} needs a title: Record({…}, { title: 'Name' })`);
      assert.equal(names.get(record) ?? title, title, `${where} has a title already: use the same schema`);
      assert.equal(records.get(title ?? '') ?? record, record, `${where} has the title of another record, ${title}`);
      names.set(record, title ?? '');
      records.set(title ?? '', record);
    }
  }
});

test('every JSON body and answer in openapi.json is a named record or a list of one', () => {
  const isNamed = (schema: object | undefined): boolean => {
    const { $ref, items } = (schema ?? {}) as { $ref?: string; items?: object };
    return $ref === undefined ? items !== undefined && isNamed(items) : $ref.startsWith('#/components/schemas/');
  };
  for (const { name, operation } of operations)
    for (const { content } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      const json = content?.['application/json'];
      if (json) assert.ok(isNamed(json.schema), `${name}: ${JSON.stringify(json.schema).slice(0, 200)}`);
    }
});

test('every operation in openapi.json takes at most one media type', () => {
  for (const { name, operation } of operations) {
    const types = Object.keys(operation.requestBody?.content ?? {});
    assert.ok(types.length <= 1, `${name} takes ${types}`);
  }
});

test('every error response in openapi.json links to the explanation of each code that the operation declares', () => {
  const explained = new Set(EXPLAINED_ERRORS.map(({ code }) => `[\`${code}\`](/docs/errors#${code})`));
  for (const { name, operation } of operations) {
    const { errors = [] } = ENDPOINTS.find((one) => operationId(one) === operation.operationId) ?? {};
    const texts = Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([, { $ref, description: own = '' }]) =>
        $ref === undefined ? own : String(description.components.responses[$ref.split('/').at(-1) ?? ''].description),
      );
    for (const text of texts) {
      const links = text.match(/\[[^\]]*\]\([^)]*\)/g) ?? [];
      assert.ok(links.length > 0, `${name}: ${text}`);
      assert.deepEqual(
        links.filter((link) => !explained.has(link)),
        [],
        name,
      );
    }
    for (const code of errors)
      assert.ok(
        texts.some((text) => text.includes(`](/docs/errors#${code})`)),
        `${name} declares ${code}`,
      );
  }
});

test('the reference has samples of each operation that a shell and a browser can parse', () => {
  const { paths } = describeForReference(ENDPOINTS, 'https://wiki.example.com');
  const samples = Object.values(paths).flatMap((path) =>
    Object.values(path).map((operation) => (operation['x-code-samples'] ?? []).map(({ source }) => source)),
  );
  assert.equal(samples.length, ENDPOINTS.length);
  for (const [, javascript = ''] of samples) new Script(`(async () => {\n${javascript}\n})`);
  const shell = spawnSync('bash', ['-n'], { input: samples.map(([curl]) => curl).join('\n'), encoding: 'utf8' });
  assert.equal(shell.stderr, '');
  assert.deepEqual(
    samples.flat().filter((source) => /undefined|[A-Z]+_ID\b|[:*][a-z_]+_id\b/.test(source)),
    [],
    'each parameter of a path has an example',
  );
});

for (const { name, operation } of operations) {
  test(`openapi.json has a valid example of each reply and body of ${name}`, () => {
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      if (type === 'application/json') assertMatches(media, `${name}, body`);
    }
    for (const [status, reply] of Object.entries(operation.responses)) {
      const resolved: Reply = reply.$ref ? description.components.responses[reply.$ref.split('/').at(-1) ?? ''] : reply;
      assert.ok(resolved, `${name} names the reply ${reply.$ref}, which components.responses does not have`);
      for (const [type, media] of Object.entries(resolved.content ?? {}))
        assertMatches(media, `${name}, ${status} ${type}`);
      assert.ok(status === '204' || status === '304' || resolved.content, `${name}, ${status} needs a content`);
    }
    const takesNoCredential = operation.security?.length === 0;
    assert.ok(takesNoCredential || operation.responses['401'], `${name} must declare 401`);
    assert.ok(operation.responses['422'], `${name} must declare 422`);
  });
}

longTest('openapi.json passes the recommended rules of its linter without an error or a warning', async () => {
  const redocly = fileURLToPath(new URL('node_modules/@redocly/cli/bin/cli.js', PACKAGE));
  const file = fileURLToPath(new URL('openapi.json', PACKAGE));
  const rules = fileURLToPath(new URL('redocly.yaml', PACKAGE));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const linter = spawn(
    process.execPath,
    [redocly, 'lint', file, `--config=${rules}`, '--format=json', '--max-problems=20'],
    { env },
  );
  let output = '';
  linter.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => linter.on('exit', resolve));
  const { problems } = JSON.parse(output) as {
    problems: { ruleId: string; message: string; location: { pointer: string }[] }[];
  };
  const told = problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
  assert.deepEqual(told, [], 'fix what the linter names, in src/platform/http/openapi/ or the endpoint');
  assert.equal(code, 0);
});
