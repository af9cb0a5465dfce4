import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/platform/db/db.ts';
import { listMigrations, migrate } from '../src/platform/db/migrate.ts';
import { sql } from '../src/platform/db/sql.ts';
import { lintMigration, lintWorksWith } from './lint-migration.ts';
import { makeEmptyDatabase } from './world.ts';

/** The first migration after the baseline, which only runs on new databases. */
const FIRST = '002';

const lint = (text: string, earlier: string[] = []) =>
  lintMigration(
    { name: '999_test.sql', text },
    earlier.map((text, i) => ({ name: `99${i}_test.sql`, text })),
  );

test('no migration blocks requests for long', () => {
  const migrations = listMigrations();
  const said = migrations.flatMap((migration, i) =>
    migration.name < FIRST
      ? []
      : lintMigration(migration, migrations.slice(0, i)).map((s) => `${migration.name}: ${s}`),
  );
  assert.deepEqual(said, []);
});

test('each migration has a number of its own', () => {
  const numbers = listMigrations().map(({ name }) => name.slice(0, 3));
  assert.deepEqual(numbers, [...new Set(numbers)]);
});

const REFUSED: [string, RegExp][] = [
  ['create index pages_x on pages (title)', /kind concurrently/],
  ['create unique index if not exists pages_x\n  on only public.pages using btree (title)', /kind concurrently/],
  ['create index on "pages" (title)', /kind concurrently/],
  ['create index concurrently if not exists pages_x on pages (title)', /first line/],
  ['drop index concurrently if exists pages_x', /first line/],
  ['alter table pages alter column revision type bigint', /rewrites/],
  ['ALTER TABLE IF EXISTS pages ALTER revision SET DATA TYPE bigint', /rewrites/],
  ['alter table pages add column a int, add column b text default gen_random_uuid()::text', /not a constant/],
  ['alter table pages add column b timestamptz not null default clock_timestamp()', /not a constant/],
  ['alter table pages add column b text not null', /without a default/],
  ["alter table pages add b text generated always as (title || 'x') stored", /rewrites/],
  ['alter table pages add column b bigserial', /rewrites/],
  ['alter table pages add column b int default 0 check (b >= 0)', /by itself/],
  ['alter table pages add column b int unique', /by itself/],
  ["alter table pages add column b text default '' references users", /not valid/],
  ["alter table pages add constraint c check (title <> 'not valid')", /not valid/],
  ['alter table pages add check (revision > 0)', /not valid/],
  ['alter table pages add constraint f foreign key (created_by) references users', /not valid/],
  ['alter table pages add unique (title)', /using index/],
  ['alter table pages add constraint e exclude using gist (title with =)', /exclusion/],
  ['alter table pages add constraint c check (revision > 0) not valid, validate constraint c', /kind concurrently/],
  ['alter table pages alter column parent_path set not null', /check \(parent_path is not null\)/],
  ['alter table pages drop column title', /contract/],
  ['alter table pages drop title', /contract/],
  ['drop table page_bases', /contract/],
  ['-- contract:\nalter table pages drop column title', /contract/],
  ['-- contract: unused\nalter table pages rename column title to name', /rename/],
  ['alter table pages rename to leaves', /rename/],
  ['alter table pages set unlogged', /rewrites/],
  ['update pages set stale = false', /kind batches/],
  ['update only pages as p set stale = false where p.stale', /kind batches/],
  ['with old as (select 1) delete from public.pages using old', /kind batches/],
  ['truncate search_pending', /kind batches/],
  ['vacuum full pages', /rewrites/],
  ['vacuum (analyze, full) pages', /rewrites/],
  ['cluster pages using pages_by_title', /rewrites/],
  ['lock table pages in share mode', /lock no table/],
  ['lock pages', /lock no table/],
  ['reindex table pages', /new index/],
  ['/* update */ select 1; -- ;\nupdate pages set stale = true', /kind batches/],
  ['do $$ begin update pages set stale = true; end $$', /kind batches/],
  ["do $x$ begin execute format('alter table %I alter column a type text', t); end $x$", /rewrites/],
  ["do $$ begin execute 'create index i on pages (title)'; end $$", /kind concurrently/],
  ['-- migration: concurrently\ncreate index concurrently pages_x on pages (title)', /may run twice/],
  ['-- migration: concurrently\nalter table pages add column a int', /may run twice/],
  ['-- migration: concurrently\nupdate pages set stale = true', /may run twice/],
  ['-- migration: batches\nupdate pages set stale = true', /with a limit/],
  ['-- migration: batches\nalter table pages add column a int', /with a limit/],
  ['-- migration: batches\ndelete from pages where page_id in (select 1 limit 5); select 1', /one statement/],
];

test('statements that rewrite a big table or lock it for long are refused', () => {
  for (const [text, advice] of REFUSED) {
    const said = lint(text);
    assert.equal(said.length, 1, `${text}\nmust be refused for one reason: ${said.join('\n')}`);
    assert.match(said[0] ?? '', advice);
  }
});

const ALLOWED = [
  'create table t (id int primary key, page_id text references pages); create index i on t (id); update t set id = 1;' +
    'alter table t add check (id > 0), alter column id type bigint, alter column id set not null; lock table t',
  'create unlogged table if not exists t (id int); insert into t select 1; delete from t',
  'alter table migrations add column note text not null; update migrations set note = $$x$$; create index i on migrations (note)',
  "alter table pages add column a text not null default '', add b jsonb default '{}'::jsonb, add c int default -1",
  'alter table pages add column a timestamptz not null default now(), add column b text[] not null default array[]::text[]',
  'alter table pages add column a text collate "C" references users, add column b boolean default false not null',
  'alter table pages add constraint c check (revision > 0 and position >= 0) not valid',
  'alter table pages add constraint f foreign key (wiki_id, created_by) references users (a, b) not valid',
  'alter table pages add constraint u unique using index pages_u',
  'alter table pages drop constraint c, alter column title set default $$x$$, alter column title drop not null',
  'alter table pages alter column type set default 1, alter column revision set (n_distinct = 1)',
  'alter table pages enable row level security; create policy p on pages for update using (true)',
  'alter table pages rename constraint a to b',
  '-- contract: nothing has read it for two releases\nalter table pages drop column title',
  '-- contract: nothing has read it for two releases\ndrop table page_bases',
  'insert into users values (1) on conflict (user_id) do update set name = excluded.name',
  'select 1 from pages for update skip locked',
  'create function f() returns void language sql as $$ update pages set stale = true $$',
  "create function f() returns void language sql as 'delete from pages'",
  "comment on table pages is 'update pages set x; lock pages'",
  'create trigger t after update of title or delete or truncate on pages for each statement execute function f()',
  'grant select, insert, update, delete, truncate on pages to ibid_service',
  'drop index pages_x',
  "do $$ begin execute format('alter function f set search_path = %I', current_schema()); end $$",
  '-- migration: concurrently\n-- Why.\ncreate unique index concurrently if not exists i on pages (title);\n' +
    "drop index concurrently if exists j; alter table pages validate constraint c; comment on index i is 'x; y'",
  '-- migration: batches\nupdate pages set stale = true where page_id in (select page_id from pages where not stale limit 500)',
  '-- migration: batches\nwith gone as (select 1 from pages limit 500) delete from pages using gone',
];

test('statements that hold their locks only briefly are allowed', () => {
  for (const text of ALLOWED) assert.deepEqual(lint(text), [], text);
});

test('a column becomes not null only after a validated check', () => {
  const set = 'alter table pages alter column parent_path set not null';
  const add = 'alter table pages add constraint p check (parent_path is not null) not valid';
  const validate = '-- migration: concurrently\nalter table pages validate constraint p';
  assert.deepEqual(lint(set, [add, validate]), []);
  assert.equal(lint(set, [add]).length, 1);
  assert.equal(lint(set, [add.replace('parent_path', 'title'), validate]).length, 1);
  assert.equal(lint(set, [add.replace('pages', 'wikis'), validate]).length, 1);
});

test('every column has a comment', async () => {
  const db = openDb({ connection: { connectionString: await makeEmptyDatabase() }, connections: 1 });
  await migrate(db);
  const without = await db.query<{ name: string }>(sql`
    select format('%s.%s', c.relname, a.attname) as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and coalesce(col_description(c.oid, a.attnum), '') = ''`);
  await db.close();
  assert.deepEqual(
    without.map(({ name }) => name),
    [],
    'write "-- …" behind the column in its "create table", or "comment on column": what its name does not tell, such as its unit, who sets it, when it is null, what it refers to, and what its values mean',
  );
});

test('every column and index uses the "C" collation, so that no system update changes their order', async () => {
  const db = openDb({ connection: { connectionString: await makeEmptyDatabase() }, connections: 1 });
  await migrate(db);
  const others = await db.query<{ name: string; key: string }>(sql`
    select c.relname::text as name, a.attname::text as key
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'i') and not a.attisdropped
      and a.attcollation not in (0, 'pg_catalog."C"'::regcollation)`);
  await db.close();
  assert.deepEqual(others, [], 'give the column, or the key of the index, collate "C"');
});

test('a migration keeps its promise about the earlier releases that work with it', () => {
  const migrations = listMigrations();
  assert.deepEqual(
    migrations.flatMap((migration, i) => lintWorksWith(migration, migrations.slice(0, i))),
    [],
  );
  const objections = (text: string) =>
    lintWorksWith({ name: '999.sql', text: `-- works with: ${text}` }, migrations).length;
  assert.equal(objections('any\nalter table pages add column a int; create table b (id int check (id > 0));'), 0);
  assert.equal(objections('any\n-- contract: why\nalter table pages drop column title;'), 1);
  assert.equal(objections('any\nalter table pages alter column title set not null;'), 1);
  assert.equal(objections(`${migrations[0]?.name}\nalter table pages drop column title;`), 0);
  assert.equal(objections('999_unknown.sql\nselect 1;'), 1);
});
