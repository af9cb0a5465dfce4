import { Client, type ClientConfig } from 'pg';
import { generatePages } from '../corpus.ts';
import { PAGE_OF_ANOTHER } from './requests.ts';

/** Numbers of records. All other data is the same for each size: the measured requests find the same records. */
export interface Size {
  /** Pages of the measured wiki, 100 in a folder and 100 folders in a part. */
  pages: number;
  /** Other wikis, ten in a workspace, with three pages each. */
  wikis: number;
  /** Members of the measured workspace; other workspaces have as many users. */
  members: number;
  /** Audit records of the measured workspace. */
  audit_records: number;
}

/** The ids of a filled service that requests name. */
export interface Filled {
  workspace_id: string;
  wiki_id: string;
  user_id: string;
}

/** Number of texts that the pages share: the measured requests read one at a time. */
const TEXTS = 50;
const BYTES = 3_000;

/**
 * Inserts pages `n` of a wiki. The first page of each hundred is the folder of the others, and the first of each ten
 * thousand is the part that contains the folders.
 */
const PAGES = `
  insert into pages (wiki_id, page_id, path, slug, title, description, parent_page_id, parent_path, position, origin, revision,
    word_count, source_count, created_by, updated_by, updated_at)
  select $1, 'page_' || n, coalesce(above || '/', '') || 'p' || n, 'p' || n, 'Page ' || n, 'About ' || n, 'page_' || parent, above, n,
    'compiled', 1, 450, 1, $2, $2, now() - n * interval '1 second'
  from generate_series(1, $3::int) n
  cross join lateral (select case when n % 10000 = 1 then null when n % 100 = 1 then n - n % 10000 + 1 else n - (n - 1) % 100 end as parent) a
  cross join lateral (select case when parent is null then null when n % 100 = 1 or (n - 1) % 10000 < 100 then 'p' || n - (n - 1) % 10000
    else 'p' || n - (n - 1) % 10000 || '/p' || parent end as above) b`;

const CONTENT: [text: string, values: (f: Filled, texts: Record<string, string>) => unknown[]][] = [
  [
    `insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select $1, p.page_id, 1, p.title, t.text, '<p>' || replace(t.text, E'\\n\\n', E'</p>\\n<p>') || '</p>', '[]', p.created_by
      from pages p join unnest($2::text[]) with ordinality t (text, no) on t.no = 1 + p.position % ${TEXTS}
      where p.wiki_id = $1`,
    ({ wiki_id }, texts) => [wiki_id, Object.values(texts)],
  ],
  [
    `insert into page_texts (wiki_id, page_id, text)
      select $1, p.page_id, t.text from pages p join unnest($2::text[]) with ordinality t (text, no) on t.no = 1 + p.position % ${TEXTS}
      where p.wiki_id = $1`,
    ({ wiki_id }, texts) => [wiki_id, Object.values(texts)],
  ],
  [
    // Three links from each page to neighbours; every tenth page also has a broken link.
    `insert into page_links (wiki_id, from_page_id, to_page_id, to_path)
      select p.wiki_id, p.page_id, q.page_id, q.path from pages p cross join generate_series(1, 3) k
      join pages q on q.wiki_id = p.wiki_id and q.page_id = 'page_' || 1 + (p.position + 7 * k) % (select count(*) from pages where wiki_id = $1)
      where p.wiki_id = $1
      union all select wiki_id, page_id, null, 'missing/' || position from pages where wiki_id = $1 and position % 10 = 0`,
    ({ wiki_id }) => [wiki_id],
  ],
  [
    `insert into uploads (wiki_id, upload_id, status, source_count, created_by, finished_at)
      select $1, 'upload_' || n, 'completed', 1000, $2, now() from generate_series(0, (select count(*) from pages where wiki_id = $1) / 1000) n`,
    ({ wiki_id, user_id }) => [wiki_id, user_id],
  ],
  [
    `insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256)
      select wiki_id, replace(page_id, 'page', 'source'), 'upload_' || position / 1000, title, path || '.md', 'text/markdown', ${BYTES},
        encode(sha256(page_id::bytea), 'hex') from pages where wiki_id = $1`,
    ({ wiki_id }) => [wiki_id],
  ],
  [
    `insert into page_sources (wiki_id, page_id, source_id) select wiki_id, page_id, replace(page_id, 'page', 'source')
      from pages where wiki_id = $1`,
    ({ wiki_id }) => [wiki_id],
  ],
  [
    `insert into upload_files (wiki_id, upload_id, file_no, filename, content_type, byte_size, sha256, status, page_path, page_id,
        page_change, source_id, new_source, file_id)
      select wiki_id, 'upload_' || position / 1000, position % 1000, path || '.md', 'text/markdown', ${BYTES},
        encode(sha256(page_id::bytea), 'hex'), 'done', path, page_id, 'new', replace(page_id, 'page', 'source'), true,
        replace(page_id, 'page', 'file') from pages where wiki_id = $1`,
    ({ wiki_id }) => [wiki_id],
  ],
  [
    `insert into jobs (wiki_id, job_id, upload_id, kind, status, finished_at)
      select wiki_id, replace(upload_id, 'upload', 'job'), upload_id, 'ingest', 'completed', now() from uploads where wiki_id = $1`,
    ({ wiki_id }) => [wiki_id],
  ],
];

const OTHERS = `
  with made as (
    insert into workspaces (workspace_id, name, slug, created_by)
    select 'org_other' || n, 'Other ' || n, 'other-' || n, $1 from generate_series(1, ceil($2::int / 10.0)::int) n returning workspace_id, slug
  ), joined as (
    insert into memberships (membership_id, workspace_id, user_id, role)
    select 'mem_other' || n, 'org_other' || n, 'user_other' || 1 + n % $3::int, 'owner' from generate_series(1, ceil($2::int / 10.0)::int) n
  ), kept as (
    insert into wikis (wiki_id, workspace_id, slug, title, created_by)
    select 'wiki_other' || n, 'org_other' || 1 + (n - 1) / 10, 'wiki-' || n, 'Wiki ' || n, $1 from generate_series(1, $2::int) n
  )
  insert into pages (wiki_id, page_id, path, slug, title, position, origin, revision, word_count, created_by, updated_by)
  select 'wiki_other' || n, 'page_other' || n || '_' || k, 'p' || k, 'p' || k, 'Page ' || k, k, 'authored', 1, 3, $1, $1
  from generate_series(1, $2::int) n, generate_series(1, 3) k`;

const USERS = `
  insert into users (user_id, email, display_name, email_verified)
  select 'user_' || kind || n, kind || n || '@example.com', 'User ' || n, true
  from unnest('{member,other}'::text[]) kind, generate_series(1, $1::int) n`;

const KEYS = `
  insert into api_keys (key_id, user_id, name, secret_hash, obfuscated_value)
  select 'key_' || user_id, user_id, 'Key', sha256(user_id::bytea), 'key…' from users where user_id like 'user_member%' or user_id like 'user_other%'`;

const MEMBERS = `
  insert into memberships (membership_id, workspace_id, user_id, role)
  select 'mem_member' || n, $1, 'user_member' || n, 'member' from generate_series(1, $2::int) n`;

const AUDIT = `
  insert into audit_events (event_id, workspace_id, type, actor_id, credential_id, request_id, address, credential_kind, target_kind,
    target_id, created_at)
  select 'evt_0000' || lpad(n::text, 12, '0'), $1, case when n % 3 = 0 then 'page.created' else 'page.updated' end, 'user_member' || 1 + n % 10,
    'key_a', 'req', '10.0.0.1', 'key', 'page', 'page_' || n, now() - ($2::int - n) * interval '1 second'
  from generate_series(1, $2::int) n`;

/** Fills a service by SQL, in a transaction for each kind of record, and updates PostgreSQL's statistics. */
export async function fillService(connection: ClientConfig, size: Size, filled: Filled): Promise<void> {
  const database = new Client({ ...connection, options: '-c work_mem=256MB' });
  await database.connect();
  const { workspace_id, wiki_id, user_id } = filled;
  try {
    await database.query(USERS, [size.members]);
    await database.query(KEYS);
    await database.query(MEMBERS, [workspace_id, size.members]);
    await database.query(OTHERS, [user_id, size.wikis, size.members]);
    await database.query(PAGES, [wiki_id, user_id, size.pages]);
    await database.query('analyze');
    const texts = generatePages({ from: 0, count: TEXTS, bytes: BYTES });
    for (const [text, values] of CONTENT) await database.query(text, values(filled, texts));
    const another = [wiki_id, PAGE_OF_ANOTHER];
    await database.query("update pages set updated_by = 'user_member1' where wiki_id = $1 and page_id = $2", another);
    await database.query(
      "update revisions set created_by = 'user_member1' where wiki_id = $1 and page_id = $2",
      another,
    );
    await database.query(AUDIT, [workspace_id, size.audit_records]);
    await database.query('vacuum analyze');
  } finally {
    await database.end();
  }
}
