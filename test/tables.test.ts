import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import { ENDPOINTS, TABLES } from '../src/app.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { openDb } from '../src/platform/db/db.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { ownerColumn, type Table } from '../src/platform/tables/define-table.ts';
import { declaredSql, distinctSql, grantSql, policyOf, policySql } from '../src/platform/tables/table-sql.ts';
import { noProblems } from './no-problems.ts';
import { nameOf } from './requests.ts';
import { makeEmptyDatabase } from './world.ts';

/** Compares the declaration of each table (`tables.ts` of its feature) with the migrations. */
interface Found {
  name: string;
  columns: string[];
  rights: string;
  is_secured: boolean;
  /** Formatted as `name: condition`. */
  policies: string[];
  /** Tables whose deleted rows delete rows of this table, by foreign keys. */
  deleted_with: string[];
  /** Columns with `n_distinct = 20`. */
  distinct: string[];
}

const db = openDb({ connection: { connectionString: await makeEmptyDatabase() }, connections: 1 });
await migrate(db);
const found = await db.query<Found>(sql`
  with recursive cascades as (
    select conrelid as child, confrelid as parent from pg_constraint
    where contype = 'f' and confdeltype = 'c' and conrelid <> confrelid
  ), below as (
    select * from cascades union select c.child, b.parent from below b join cascades c on c.parent = b.child
  )
  select c.relname::text as name, c.relrowsecurity as is_secured,
    array(select attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    coalesce((
      select string_agg(lower(r.privilege_type), ', ' order by r.privilege_type) from aclexplode(c.relacl) r
      where r.grantee = ${SERVICE_ROLE}::regrole), '') as rights,
    array(
      select concat(polname, case when polcmd <> '*' or polwithcheck is not null then ' (not for all)' end, ': ',
        pg_get_expr(polqual, polrelid)) from pg_policy p where p.polrelid = c.oid order by 1) as policies,
    array(select distinct b.parent::regclass::text from below b where b.child = c.oid) as deleted_with,
    array(select attname::text from pg_attribute a where a.attrelid = c.oid and a.attoptions = '{n_distinct=20}') as distinct
  from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`);
const functions = await db.query<{ name: string; text: string }>(sql`
  select proname::text as name, prosrc as text from pg_proc where pronamespace = current_schema()::regnamespace`);
const conditions = await conditionsAsStored();
await db.close();

/** Returns the condition of each declared policy as PostgreSQL formats it. */
async function conditionsAsStored(): Promise<Map<string, string>> {
  await db.query(sql`create table any_owner (wiki_id text, workspace_id text, user_id text)`);
  for (const table of TABLES) {
    const policy = policyOf(table);
    if (policy) await db.query(raw(`create policy ${table.name} on any_owner using (${policy.using})`));
  }
  const rows = await db.query<{ name: string; text: string }>(sql`
    select polname::text as name, pg_get_expr(polqual, polrelid) as text from pg_policy
    where polrelid = 'any_owner'::regclass`);
  return new Map(rows.map(({ name, text }) => [name, text]));
}

const mentions = (name: string, table: string) =>
  functions.some((one) => one.name === name && new RegExp(`\\b${table}\\b`).test(one.text));

/** Defines a test for a rule. `problemsOf` returns a sentence with the remedy for each violation of a table. */
function everyTable(title: string, problemsOf: (table: Table, found: Found) => (string | false | undefined)[]): void {
  test(title, () => {
    const problems = TABLES.flatMap((table) => {
      const there = found.find(({ name }) => name === table.name);
      return there ? problemsOf(table, there) : [];
    });
    noProblems(problems);
  });
}

test('every table is declared once and created by a migration', () => {
  const names = TABLES.map(({ name }) => name);
  const undeclared = found
    .filter(({ name }) => !names.includes(name))
    .map(
      ({ name }) =>
        `${name} is in the database and in no tables.ts: add defineTable({ name: '${name}', … }) to the tables.ts of its feature, and that list to "tables" in its feature.ts.`,
    );
  const missing = TABLES.filter(({ name }) => !found.some((there) => there.name === name)).map(
    (table) =>
      `${table.name} is declared and not in the database: add to a migration\n\ncreate table ${table.name} (…);\n${declaredSql(table)}`,
  );
  const repeated = names
    .filter((name, i) => names.indexOf(name) !== i)
    .map((name) => `${name} is declared twice: remove one of the declarations.`);
  noProblems([...undeclared, ...missing, ...repeated]);
});

everyTable('the owner of a row is a column', (table, { columns }) => {
  const needed = [ownerColumn(table), table.of === 'member' ? 'user_id' : undefined, table.id, ...(table.copies ?? [])];
  return needed.map(
    (column) =>
      column !== undefined &&
      !columns.includes(column) &&
      `${table.name} has no column ${column}: add it in a migration, or change "of", "id" or "copies" in its tables.ts.`,
  );
});

everyTable('the service has the declared rights', (table, { rights }) => [
  rights !== table.rights &&
    `the service may "${rights}" on ${table.name}: declare rights: '${rights}' in its tables.ts, or add to a migration\n\n${
      table.rights === '' ? '' : grantSql(table)
    }`,
]);

everyTable('row-level security shows rows as declared', (table, { is_secured, policies }) => {
  const declared = policyOf(table);
  const expected = declared && `${declared.name}: ${conditions.get(table.name)}`;
  if (table.policy === 'none') {
    return [is_secured && `${table.name} has row-level security: remove policy: 'none' from its tables.ts.`];
  }
  return [
    (!is_secured || (expected !== undefined && policies.join() !== expected)) &&
      `${table.name} has ${is_secured ? `the policies [${policies}]` : 'no row-level security'}: add to a migration\n\n${policySql(table)}\n\n` +
        `(after "drop policy" of an existing one), or declare another policy in its tables.ts: 'shared', 'special' or 'none'.`,
  ];
});

everyTable('the planner knows how the rows of large tables are divided', (table, { distinct }) => {
  const column = table.rows === 'many' ? ownerColumn(table) : undefined;
  return [
    distinct.join() !== (column ?? '') &&
      (column
        ? `${table.name} is declared with rows: 'many': add to a migration\n\n${distinctSql(table)}`
        : `a migration sets n_distinct of ${table.name}: declare rows: 'many' in its tables.ts.`),
  ];
});

const OWNERS = { wiki: 'wikis', member: 'wikis', workspace: 'workspaces', user: 'users', service: undefined };

everyTable('rows are deleted with their owner', ({ name, of, deletedBy }, { deleted_with }) => {
  const owners = OWNERS[of];
  if (owners === undefined || owners === name || (deletedBy && mentions(deletedBy, name))) return [];
  if (deletedBy)
    return [`the function ${deletedBy} does not name ${name}: its tables.ts says that it deletes its rows.`];
  const column = `${of === 'member' ? 'wiki' : of}_id`;
  return [
    !deleted_with.includes(owners) &&
      `no foreign key deletes rows of ${name} with their ${of}: add to its "create table"\n\n` +
        `foreign key (${column}) references ${owners} on delete cascade\n\n` +
        `or a foreign key to a table that has one; or name in its tables.ts the function that deletes them (deletedBy).`,
  ];
});

/** Columns that identify a person. */
const OF_A_PERSON = /(^|_)(user_id|email)$|^(created|updated|invited|trashed|held)_by$|^(actor|credential)_id$/;

everyTable('what names a person says how it is exported and erased', ({ name, of, person }, found) => {
  const columns = found.columns.filter((column) => OF_A_PERSON.test(column));
  if (!person) {
    return [
      columns.length > 0 &&
        `${name} names a person (${columns}): declare in its tables.ts person: { exported, erased }. For rows that a person keeps alone: a ` +
          `list of the export, and a foreign key (user_id) references users on delete cascade. For content: idStays('why it is in no list').`,
    ];
  }
  const { erased } = person;
  return [
    of === 'member' &&
      !found.deleted_with.includes('users') &&
      `${name}: add foreign key (user_id) references users on delete cascade.`,
    erased === 'cascade' &&
      !found.deleted_with.includes('users') &&
      `${name} is declared as erased by "cascade": add foreign key (user_id) references users on delete cascade.`,
    erased === 'erase_account' &&
      !mentions(erased, name) &&
      `the function erase_account does not name ${name}: replace it in a migration, or change "erased" in its tables.ts.`,
    erased !== 'cascade' &&
      found.deleted_with.includes('users') &&
      `${name} is deleted with the user: declare erased: 'cascade' in its tables.ts.`,
  ];
});

test('exactly one table declares the kind of each event and the prefix of each id', () => {
  const kinds = TABLES.flatMap(({ audit = [] }) => audit);
  const undeclared = ENDPOINTS.filter(({ event }) => event && !kinds.includes(event.split('.')[0] ?? '')).map(
    (endpoint) =>
      `${nameOf(endpoint)} has the event ${endpoint.event}: add its first word to "audit" of the table that it changes, in a tables.ts.`,
  );
  const withoutId = TABLES.filter(({ audit, id }) => audit && id === undefined).map(
    ({ name }) => `${name} has audit records: declare in its tables.ts which column names a row ("id").`,
  );
  const prefixes = TABLES.flatMap(({ prefix = [] }) => prefix);
  const used = globSync('src/**/*.ts', { cwd: PACKAGE })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(new URL(file, PACKAGE), 'utf8').matchAll(/\bnewId\('(\w+)'\)/g)])
    .map(([, prefix = '']) => prefix);
  const unknown = [...new Set(used)]
    .filter((prefix) => !prefixes.includes(prefix))
    .map((prefix) => `newId('${prefix}') makes ids of no table: declare prefix: '${prefix}' in its tables.ts.`);
  const twice = [...kinds, ...prefixes.map((prefix) => `${prefix}_`)].filter((one, i, all) => all.indexOf(one) !== i);
  assert.ok(used.length > 20, 'the calls of newId must be found');
  noProblems([...undeclared, ...withoutId, ...unknown]);
  assert.deepEqual(twice, [], 'two tables declare this kind of audit record or this prefix of ids');
});
