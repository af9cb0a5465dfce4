import type { OwnerDb } from '../src/platform/db/db.ts';
import { prepareDatabase } from '../src/platform/db/prepare-database.ts';
import { raw, sql } from '../src/platform/db/sql.ts';

/**
 * Simulates shards in one database: each transaction of the service sees only the rows on the shard of its key, and no
 * row of another workspace. Policies enforce this, even for functions of the owner. They apply to connections with this
 * application name.
 */
const SHARDED = 'of_a_shard';

/** Tables with the same rows on every shard. A write goes to all shards. */
export const GLOBAL_TABLES = [
  ...[
    'users',
    'identities',
    'passwords',
    'password_guesses',
    'email_links',
    'email_changes',
    'sign_in_links',
    'openid_attempts',
  ],
  ...[
    'sessions',
    'refresh_tokens',
    'welcome_links',
    'signing_keys',
    'api_keys',
    'limit_counts',
    'blobs',
    'plan_limits',
  ],
];

/** Tables with separate rows on each shard, written by its own workers and transactions. */
export const TABLES_OF_A_SHARD = [
  ...[
    'background_jobs',
    'schedules',
    'workers',
    'service_controls',
    'idempotency_keys',
    'request_log',
    'payment_events',
  ],
  ...['migrations', 'backup_status', 'wal_archive', 'wal_timelines'],
];

/** Whether a transaction without a key sees the rows of all shards, or they are hidden from it. */
type Mode = 'asks all shards' | 'asks one shard';

export interface SimulatedShards {
  /** Tables whose rows belong to a workspace. */
  tables: string[];
  set(mode: Mode): Promise<void>;
  /**
   * Returns, since the last call, whether rows were hidden from a transaction without a key, and which global tables
   * were written by transactions with a key, with and without a user.
   */
  take(): Promise<{ isHidden: boolean; written: string[]; writtenByJobs: string[] }>;
}

/**
 * Migrates the database and adds the policies. No service may be running on it: its transactions take locks in other
 * orders.
 */
export async function simulateShards(db: OwnerDb): Promise<SimulatedShards> {
  await prepareDatabase(db, { url: undefined, dataDir: '' }, () => undefined);
  const columns = await db.query<{ table: string; column: string }>(sql`
    select t.table_name as table,
      coalesce(max(c.column_name) filter (where c.column_name = 'workspace_id'), max(c.column_name)) as column
    from information_schema.tables t left join information_schema.columns c
      on c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name in ('workspace_id', 'wiki_id')
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE' group by 1 order by 1`);
  const placed = columns.filter(({ table }) => ![...GLOBAL_TABLES, ...TABLES_OF_A_SHARD].includes(table));
  await db.transaction(async (_, run) => {
    await run(FUNCTIONS);
    for (const { table, column } of placed) {
      // A deleted wiki has no workspace any more, but stays on its shard.
      const workspace = column === 'wiki_id' || table === 'wikis' ? 'shard_of(wiki_id)' : 'workspace_id';
      const isSeen = `shard_has('${table}', ${workspace})`;
      await run(`
        alter table ${table} force row level security;
        create policy shard_owner on ${table} to current_user using (true) with check (true);
        create policy shard on ${table} as restrictive using (${isSeen}) with check (${isSeen})`);
    }
    for (const table of GLOBAL_TABLES) {
      await run(
        `create trigger shard_note after insert or update or delete on ${table} for each row execute function shard_note()`,
      );
    }
  });
  return {
    tables: placed.map(({ table }) => table),
    set: async (mode) =>
      void (await db.query(sql`update simulated.shard_mode set asks_all = ${mode === 'asks all shards'}`)),
    async take() {
      const [hidden] = await db.query<{ is_hidden: boolean }>(
        sql`select is_called as is_hidden from simulated.shard_hidden`,
      );
      const written = await db.query<{ name: string; by_a_job: boolean }>(
        sql`delete from simulated.shard_writes returning name, by_a_job`,
      );
      await db.query(raw(`select setval('simulated.shard_hidden', 1, false)`));
      const namesOf = (byJobs: boolean) => [
        ...new Set(written.filter((row) => row.by_a_job === byJobs).map(({ name }) => name)),
      ];
      return {
        isHidden: hidden?.is_hidden ?? false,
        written: namesOf(false).sort(),
        writtenByJobs: namesOf(true).sort(),
      };
    },
  };
}

/** Returns the database URL with the application name of simulated shards. */
export function ofAShard(database: string): string {
  const address = new URL(database);
  address.searchParams.set('application_name', SHARDED);
  return address.href;
}

const IS_SHARDED = `current_setting('application_name') = '${SHARDED}'`;

/** A sequence records hidden rows, because it also works in read-only transactions and in transactions that fail. */
const FUNCTIONS = `
  create schema simulated;
  create table simulated.shard_mode (asks_all boolean not null);
  insert into simulated.shard_mode values (true);
  create table simulated.shard_writes (name text not null, by_a_job boolean not null);
  create sequence simulated.shard_hidden;
  create table simulated.shard_wikis as select wiki_id, coalesce(workspace_id, deleted_from) as workspace_id from wikis;
  create index on simulated.shard_wikis (wiki_id);

  create function shard_of(wiki text) returns text language sql stable security definer set search_path = public, pg_temp
  as $$ select w.workspace_id from simulated.shard_wikis w where w.wiki_id = wiki $$;

  create function shard_has(name text, workspace text) returns boolean language plpgsql security definer
  set search_path = public, pg_temp as $$
  declare
    key constant text := coalesce(current_setting('shard.key', true), '');
  begin
    if not ${IS_SHARDED} or workspace is null or workspace = key or current_setting('shard.lookup', true) = 'on' then
      return true;
    end if;
    if key <> '' then return false; end if;
    if (select asks_all from simulated.shard_mode) then return true; end if;
    -- Who calls is looked up before it is known what for.
    if name <> 'memberships' then perform nextval('simulated.shard_hidden'); end if;
    return false;
  end $$;

  create function shard_new_wiki() returns trigger language plpgsql security definer set search_path = public, pg_temp
  as $$ begin insert into simulated.shard_wikis values (new.wiki_id, new.workspace_id); return new; end $$;
  create trigger shard_new_wiki before insert on wikis for each row execute function shard_new_wiki();

  create function shard_note() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    if ${IS_SHARDED} and coalesce(current_setting('shard.key', true), '') <> '' then
      insert into simulated.shard_writes values (tg_table_name, current_setting('ibid.user', true) = '');
    end if;
    return null;
  end $$;

  -- The key is the workspace of the request context, which a widget's token, the path or the secret of a link names.
  alter function set_request_context(text, bytea, text, text, text, text, bytea, text) rename to set_context_of_request;
  create function set_request_context(who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text,
    invitation bytea, new_workspace text) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    key text := coalesce(path_workspace, case when who = 'widget' then second_name end);
  begin
    perform set_config('shard.lookup', 'on', true);
    if path_wiki is not null then key := shard_of(path_wiki);
    elsif key is null and invitation is not null then
      select i.workspace_id into key from invitations i where i.secret_hash = invitation or i.copied_hash = invitation;
    end if;
    perform set_config('shard.lookup', '', true), set_config('shard.key', coalesce(key, ''), true);
    perform set_context_of_request(who, hash, name, second_name, path_workspace, path_wiki, invitation, new_workspace);
  end $$;`;
