import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { until } from '../../../test/until.ts';
import { makeEmptyDatabase } from '../../../test/world.ts';
import { type OwnerDb, openDb } from './db.ts';
import { listMigrations, migrate } from './migrate.ts';
import { sql } from './sql.ts';

interface Migrator {
  db: OwnerDb;
  ran: string[];
  /** Ends its database connection, as if its process were killed. */
  kill(): Promise<void>;
}

/** Creates an empty database and migrators for it, each with one connection and a statement timeout of 100 ms. */
async function openTest() {
  const connection = { connectionString: await makeEmptyDatabase() };
  const observer = openDb({ connection, connections: 2 });
  cleanUp(() => observer.close());
  return {
    observer,
    async openMigrator(): Promise<Migrator> {
      const application_name = `migrator ${Math.random()}`;
      const ran: string[] = [];
      const db = openDb({
        connection: { ...connection, application_name },
        connections: 1,
        observe: (text) => ran.push(text),
        onConnectionLost: () => undefined,
      });
      cleanUp(() => db.close());
      await db.query(sql`set statement_timeout = '100ms'`);
      return {
        db,
        ran,
        kill: async () =>
          void (await observer.query(sql`
            select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${application_name}`)),
      };
    },
  };
}

const countOf = (ran: readonly string[], text: string) => ran.filter((script) => script.includes(text)).length;

const SLOW = { name: '001_slow.sql', text: 'select pg_sleep(0.3); create table made (id int);' };

/** A migration of 200 rows in batches of ten; each row counts its changes. */
const ROWS = {
  name: '001_rows.sql',
  text: 'create table things as select n as id, 0 as changes from generate_series(1, 200) n;',
};
const BATCHES = {
  name: '002_changes.sql',
  text: `-- migration: batches
    update things set changes = changes + 1 where id in (select id from things where changes = 0 order by id limit 10)`,
};
const INDEX = {
  name: '002_index.sql',
  text: `-- migration: concurrently
    -- What is said of it; with a semicolon.
    create index concurrently if not exists things_by_changes on things (changes) where changes > 0;
    comment on index things_by_changes is 'Made; valid.';`,
};

async function isValid(db: OwnerDb): Promise<boolean | undefined> {
  const [index] = await db.query<{ is_valid: boolean }>(sql`
    select indisvalid as is_valid from pg_index where indexrelid = to_regclass('things_by_changes')`);
  return index?.is_valid;
}

test('a migration may exceed the statement timeout', async () => {
  const { db } = await (await openTest()).openMigrator();
  assert.deepEqual(await migrate(db, [SLOW]), [SLOW.name]);
  assert.deepEqual(await migrate(db, [SLOW]), []);
  const [limits] = await db.query(sql`
    select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`);
  assert.deepEqual(limits, { statement: '30s', lock: '0', idle: '30s' }, 'the time limits apply to later statements');
});

test('a process waits for another one that is migrating, beyond the statement timeout', async () => {
  const { openMigrator } = await openTest();
  const [first, second] = [await openMigrator(), await openMigrator()];
  const reasons: string[] = [];
  const options = { onWait: (reason: string) => reasons.push(reason) };
  const applied = await Promise.all([migrate(first.db, [SLOW], options), migrate(second.db, [SLOW], options)]);
  assert.deepEqual(applied.flat(), [SLOW.name]);
  assert.deepEqual(reasons, ['another process is migrating the database']);
});

test('a failed migration is rolled back completely, and earlier migrations stay applied', async () => {
  const { openMigrator, observer } = await openTest();
  const { db } = await openMigrator();
  const faulty = { name: '002_faulty.sql', text: 'create table half (id int); select 1 / 0;' };
  await assert.rejects(migrate(db, [SLOW, faulty]), { code: '22012' });
  const [made] = await observer.query(sql`select to_regclass('made')::text as made, to_regclass('half')::text as half`);
  assert.deepEqual(made, { made: 'made', half: null });
  assert.deepEqual(await migrate(db, [SLOW, { ...faulty, text: 'create table half (id int)' }]), ['002_faulty.sql']);
});

test('a migration does not queue for a held lock, and is retried until the lock is free', async () => {
  const { openMigrator, observer } = await openTest();
  const { db, ran } = await openMigrator();
  await migrate(db, [ROWS]);
  const alter = { name: '002_alter.sql', text: 'create table other (id int); alter table things add column more int;' };
  const migrating = await observer.transaction(async (query) => {
    await query(sql`select 1 from things limit 1`);
    const done = migrate(db, [ROWS, alter]);
    await until(
      'it was tried three times',
      () => countOf(ran, 'alter table'),
      (tries) => tries >= 3,
    );
    // A later request for the table is served, although the migration is not.
    await observer.query(sql`select id from things limit 1`);
    return { done };
  });
  assert.deepEqual(await migrating.done, [alter.name]);
});

test('a migration whose lock is never released fails with a message that names it', async () => {
  const { openMigrator, observer } = await openTest();
  const { db } = await openMigrator();
  await migrate(db, [ROWS]);
  const alter = { name: '002_alter.sql', text: 'alter table things add column more int' };
  await observer.transaction(async (query) => {
    await query(sql`select 1 from things limit 1`);
    await assert.rejects(migrate(db, [ROWS, alter], { lockAttempts: 2 }), {
      name: 'StartError',
      message: /^The migration 002_alter\.sql needs a lock .*pg_stat_activity.*start again\.$/,
    });
  });
  assert.deepEqual(await migrate(db, [ROWS, alter]), [alter.name]);
});

test('if several processes start at once, one creates the indexes and the others do not block it', async () => {
  const { openMigrator, observer } = await openTest();
  const migrators = await Promise.all([openMigrator(), openMigrator(), openMigrator()]);
  const applied = await Promise.all(migrators.map(({ db }) => migrate(db, [ROWS, INDEX])));
  assert.deepEqual(applied.flat(), [ROWS.name, INDEX.name]);
  assert.equal(await isValid(observer), true);
});

test('the next process rebuilds an index whose creation was interrupted', async () => {
  const { openMigrator, observer } = await openTest();
  const first = await openMigrator();
  await migrate(first.db, [ROWS]);
  await observer.transaction(async (query) => {
    // Transactions that write to the table must end before its index becomes valid.
    await query(sql`update things set changes = 5 where id = 1`);
    const interrupted = assert.rejects(migrate(first.db, [ROWS, INDEX]));
    await until(
      'the index exists and is invalid',
      () => isValid(observer),
      (valid) => valid === false,
    );
    await first.kill();
    await interrupted;
  });
  assert.equal(await isValid(observer), false);
  const second = await openMigrator();
  assert.deepEqual(await migrate(second.db, [ROWS, INDEX]), [INDEX.name]);
  assert.equal(await isValid(observer), true);
});

test('an interrupted migration in batches continues with the remaining rows', async () => {
  const { openMigrator, observer } = await openTest();
  const first = await openMigrator();
  await migrate(first.db, [ROWS]);
  const changed = async () => {
    const [row] = await observer.query(sql`
      select count(*) filter (where changes = 1) as once, count(*) filter (where changes > 1) as more from things`);
    return row;
  };
  await observer.transaction(async (query) => {
    await query(sql`select 1 from things where id = 101 for update`);
    const interrupted = assert.rejects(migrate(first.db, [ROWS, BATCHES]));
    await until(
      'the migration waits for a locked row',
      () => countOf(first.ran, 'update things'),
      (batches) => batches >= 12,
    );
    await first.kill();
    await interrupted;
  });
  assert.deepEqual(await changed(), { once: 100, more: 0 });
  const second = await openMigrator();
  assert.deepEqual(await migrate(second.db, [ROWS, BATCHES]), [BATCHES.name]);
  assert.deepEqual(await changed(), { once: 200, more: 0 });
  assert.equal(countOf(second.ran, 'update things'), 11, 'ten rows in each batch, and a last empty batch');
});

test('a migration of an unknown kind is refused', async () => {
  const { db } = await (await openTest()).openMigrator();
  const unknown = { name: '001_unknown.sql', text: '-- migration: sometimes\nselect 1' };
  await assert.rejects(migrate(db, [unknown]), /001_unknown\.sql: unknown kind of migration "sometimes"/);
});

test('an older release works with a newer schema that allows it, and refuses any other', async () => {
  const { db } = await (await openTest()).openMigrator();
  const base = { name: '001_base.sql', text: 'create table things (id int, old int);' };
  const expand = { name: '002_expand.sql', text: '-- works with: any\nalter table things add column new int;' };
  const contract = {
    name: '003_contract.sql',
    text: '-- works with: 002_expand.sql\n-- contract: 002 stopped using it\nalter table things drop column old;',
  };
  const unmarked = { name: '004_other.sql', text: 'alter table things rename new to other;' };
  await migrate(db, [base, expand]);
  assert.deepEqual(await migrate(db, [base]), [], 'the release before the expansion');
  await migrate(db, [base, expand, contract]);
  assert.deepEqual(await migrate(db, [base, expand]), [], 'the release before the contraction');
  await assert.rejects(migrate(db, [base]), /newer Ibid \(it has 003_contract\.sql\)/);
  await migrate(db, [base, expand, contract, unmarked]);
  await assert.rejects(migrate(db, [base, expand, contract]), /newer Ibid \(it has 004_other\.sql\)/);
});

test('a database at the last replaced migration is moved to the baseline, and an older one is refused', async () => {
  const { db } = await (await openTest()).openMigrator();
  // Later migrations apply to the baseline.
  const all = listMigrations().slice(0, 1);
  await migrate(db, all);
  const names = async () =>
    (await db.query<{ name: string }>(sql`select name from migrations order by 1`)).map(({ name }) => name);
  const made = await names();
  await db.query(sql`delete from migrations`);
  await db.query(sql`insert into migrations (name) values ('001_foundation.sql'), ('120_something.sql')`);
  await assert.rejects(migrate(db, all), /made by an early Ibid.*export its wikis with that version/);
  await db.query(sql`insert into migrations (name) values ('290_search_reindex_names.sql')`);
  const titleComment = async () => {
    const [found] = await db.query<{ text: string | null }>(sql`
      select col_description(attrelid, attnum) as text from pg_attribute where attrelid = 'pages'::regclass and attname = 'title'`);
    return found?.text;
  };
  const comment = await titleComment();
  await db.query(sql`comment on column pages.title is null`);
  const later = { name: '999_later.sql', text: 'create table later (id int);' };
  assert.deepEqual(await migrate(db, all), []);
  assert.deepEqual(await names(), made);
  assert.ok(comment);
  assert.equal(await titleComment(), comment);
  assert.deepEqual(await migrate(db, [...all, later]), [later.name]);
});
