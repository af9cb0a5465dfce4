import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { permissionOf } from '../src/platform/access/access-rule.ts';
import { effectivePermissions, findRole, PERMISSIONS, type Permission } from '../src/platform/access/roles.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { EVERYTHING } from './extent.ts';
import { type Cell, matrixText, outcomesIn, runMatrix } from './matrix.ts';
import { existingParams, nameOf } from './requests.ts';

/**
 * The answer to every combination of caller, credential and endpoint, compared with a file and checked against rules.
 */
const matrix = await runMatrix();
const { tenants, actors, cells } = matrix;
const golden = new URL('matrix.txt', PACKAGE);

const USER_CREDENTIALS = ['personal key', 'session', 'identity token'];
const REFUSALS = [401, 403, 404];

/** Permissions that no endpoint requires yet. Remove a permission from here once an endpoint requires it. */
const WITHOUT_ENDPOINT: Permission[] = ['pages:comment'];

const isDead = (kind: string) => /^(?:revoked|expired|tampered)/.test(kind);

function describeCell({ endpoint, target, credential, actor, outcome }: Cell): string {
  return `${nameOf(endpoint)}, ${target}, ${actor?.name ?? 'anonymous'} with ${credential}: ${outcome}`;
}

function isPermitted({ actor, endpoint, credential }: Cell): boolean {
  const { access } = endpoint;
  if (access.on === 'workspace' && access.session && credential !== 'session') return false;
  const permission = permissionOf(endpoint.access);
  const role = actor?.role === undefined ? undefined : findRole(actor.role);
  return role !== undefined && (permission === '' || role.permissions.includes(permission));
}

test('each answer matches matrix.txt', async () => {
  const outcomeOf = outcomesIn(await readFile(golden, 'utf8'));
  if (process.env.ACCEPT_MATRIX === 'yes') return;
  for (const cell of cells)
    assert.equal(
      cell.outcome,
      outcomeOf(cell),
      `${describeCell(cell)}, unlike in matrix.txt. Run \`npm run accept\`, read what it changes, and commit it with the change.`,
    );
});

if (EVERYTHING)
  test('matrix.txt contains all answers and no others', async () => {
    const text = matrixText(matrix);
    if (process.env.ACCEPT_MATRIX === 'yes') await writeFile(golden, text);
    const committed = (await readFile(golden, 'utf8')).split('\n');
    const now = text.split('\n');
    const at = now.findIndex((line, i) => line !== committed[i]);
    const difference = at < 0 ? '' : `\n  committed  ${committed[at]}\n  now        ${now[at]}\n`;
    assert.ok(
      at < 0 && now.length === committed.length,
      `matrix.txt differs from line ${at + 1} on:${difference}Run \`npm run accept\`, read what it changes, and commit it with the change.`,
    );
  });

test('every endpoint is called by every actor with every kind of credential, for every possible target', () => {
  for (const endpoint of ENDPOINTS) {
    const own = cells.filter((cell) => cell.endpoint === endpoint);
    const onOwnTarget = own.filter(({ target }) => target === 'own');
    // A short run tries only some dead credentials at each endpoint, in rotation.
    const called = new Set(onOwnTarget.map(({ credential }) => credential));
    assert.ok(matrix.kinds.every((kind) => called.has(kind) || (!EVERYTHING && isDead(kind))));
    if (EVERYTHING)
      assert.deepEqual(
        [...called].toSorted(),
        ['none', ...matrix.kinds].toSorted(),
        `${nameOf(endpoint)} must be called with every kind of credential`,
      );
    const expectedCount = onOwnTarget.filter(({ credential }) => credential === 'personal key').length;
    assert.equal(expectedCount, endpoint.access.on === 'anyone' ? 1 : actors.length);
    const [, ...children] = existingParams(endpoint);
    for (const child of children) {
      for (const target of [`own, foreign ${child}`, `foreign, own ${child}`, `own, unknown ${child}`]) {
        assert.ok(
          own.some((cell) => cell.target === target),
          `${nameOf(endpoint)} must be called for "${target}"`,
        );
      }
    }
  }
});

test('a missing or invalid credential, or a wrong kind of credential, is 401', () => {
  for (const cell of cells.filter(({ endpoint }) => endpoint.access.on !== 'anyone')) {
    const isWidget = cell.credential.endsWith('widget token');
    const isWrongKind = cell.credential !== 'none' && isWidget !== (cell.endpoint.access.on === 'widget');
    if (cell.credential === 'none' || isDead(cell.credential) || isWrongKind)
      assert.equal(cell.outcome, '401 unauthorized', describeCell(cell));
    else assert.notEqual(cell.status, 401, describeCell(cell));
  }
});

test('a user may do exactly what their role permits, and nothing without an active membership', () => {
  for (const cell of cells.filter(
    ({ credential, target }) => USER_CREDENTIALS.includes(credential) && target === 'own',
  )) {
    const { on } = cell.endpoint.access;
    if (on !== 'workspace' && on !== 'wiki') continue;
    if (isPermitted(cell)) assert.ok(!REFUSALS.includes(cell.status), describeCell(cell));
    else assert.equal(cell.outcome, '403 forbidden', describeCell(cell));
  }
});

test('a key has only the permissions that its user has too, and none in another workspace', () => {
  for (const cell of cells.filter(({ target }) => target === 'own')) {
    const { on } = cell.endpoint.access;
    if (on !== 'workspace' && on !== 'wiki') continue;
    const permission = permissionOf(cell.endpoint.access);
    const isRefused = cell.outcome === '403 forbidden';
    if (cell.credential === 'workspace key') assert.equal(isRefused, !isPermitted(cell), describeCell(cell));
    const { access } = cell.endpoint;
    const refusesLists = access.on === 'wiki' && access.unlimited;
    if (cell.credential === 'key for this alone')
      assert.equal(isRefused, refusesLists || !isPermitted(cell), describeCell(cell));
    if (cell.credential === 'other workspace key') assert.ok(isRefused, describeCell(cell));
    if (cell.credential === 'key for all but this' && permission !== '') assert.ok(isRefused, describeCell(cell));
  }
});

test('a missing object is 404 and a foreign object 403 for every caller; a child is found only in its container', () => {
  for (const cell of cells.filter(
    ({ credential }) => USER_CREDENTIALS.includes(credential) || credential === 'workspace key',
  )) {
    const { target } = cell;
    const { on } = cell.endpoint.access;
    if (on !== 'workspace' && on !== 'wiki') continue;
    if (target === 'unknown' || target === 'malformed') assert.equal(cell.outcome, '404 not_found', describeCell(cell));
    if (target.startsWith('foreign')) assert.equal(cell.outcome, '403 forbidden', describeCell(cell));
    if (/^own, (foreign|unknown)/.test(target)) {
      assert.equal(cell.outcome, isPermitted(cell) ? '404 not_found' : '403 forbidden', describeCell(cell));
    }
  }
});

test('every permission is required by some endpoint', () => {
  for (const permission of PERMISSIONS) {
    const own = cells.filter(
      ({ endpoint, target, credential }) =>
        permissionOf(endpoint.access) === permission && target === 'own' && credential === 'key for all but this',
    );
    const opened = cells.filter(
      ({ endpoint, target, credential, status }) =>
        permissionOf(endpoint.access) === permission &&
        target === 'own' &&
        credential === 'key for this alone' &&
        !REFUSALS.includes(status),
    );
    assert.equal(own.length + opened.length === 0, WITHOUT_ENDPOINT.includes(permission), permission);
    if (WITHOUT_ENDPOINT.includes(permission)) continue;
    assert.ok(opened.length > 0 && own.every(({ status }) => status === 403 || status === 401), permission);
  }
});

test('the flags and permissions that the API reports match the answers in the matrix', async () => {
  const { a, key } = tenants;
  const get = async (path: string, token: string) =>
    (await tenants.send({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } })).body;
  for (const actor of actors.filter(({ role }) => role)) {
    const found = PERMISSIONS.filter((permission) =>
      cells.some(
        (cell) =>
          cell.actor === actor &&
          cell.target === 'own' &&
          cell.credential === 'personal key' &&
          permissionOf(cell.endpoint.access) === permission &&
          !REFUSALS.includes(cell.status),
      ),
    );
    const all = effectivePermissions(actor.role ?? '', null);
    for (const granted of [null, all.slice(1), all.filter((permission) => permission.endsWith(':manage'))]) {
      const token = await key(actor.user_id, granted === null ? {} : { permissions: granted });
      const overview = await get('/v1/overview', token);
      const isA = (entry: Record<string, string>) =>
        entry.organization_id === a.workspace_id || entry.workspace_id === a.workspace_id;
      const shown: Permission[] = overview.session.organizations.find(isA).permissions;
      assert.deepEqual(shown, shown.toSorted(), 'permissions are shown sorted');
      assert.deepEqual(
        shown.filter((permission) => !WITHOUT_ENDPOINT.includes(permission)),
        found.filter((permission) => granted === null || granted.includes(permission)),
        `${actor.name} must be shown their actual permissions`,
      );
      const access = overview.access.find(isA);
      const viewer = shown.includes('members:read')
        ? (await get(`/v1/workspaces/${a.workspace_id}/members`, token)).viewer
        : undefined;
      for (const flag of ['billing', 'developers', 'enterprise', 'members'] as const) {
        const may = shown.includes(`${flag}:manage`);
        assert.equal(access[`can_manage_${flag}`], may, `${actor.name}: can_manage_${flag}`);
        if (viewer)
          assert.equal(viewer[`can_manage_${flag}`], may, `${actor.name}: can_manage_${flag} of the members list`);
      }
    }
  }
});

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);
