import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Ledger, SentUpload } from './writers.ts';

/**
 * Asserts that every acknowledged write exists exactly once and complete, with its audit record, and that no partial
 * write exists.
 */
export async function assertDurable(query: Query, blobs: string, ledger: Ledger): Promise<void> {
  assert.deepEqual(ledger.wrong, [], 'Clients must get an answer of the contract or 503 with Retry-After.');
  const workspaces = [...ledger.workspaces.values()];
  await assertCreated(query, 'workspace.created', workspaces, sql`select workspace_id as id from workspaces`);
  await assertCreatedOnce(query, ledger.workspaces);
  await assertCreated(
    query,
    'invitation.created',
    ledger.invitations,
    sql`select invitation_id as id from invitations`,
  );
  await assertCreated(
    query,
    'upload.created',
    ledger.uploads.flatMap(({ upload_id }) => upload_id ?? []),
    sql`select upload_id as id from uploads`,
  );
  for (const [wiki_id, titles] of ledger.renames) {
    await assertRenamed(query, wiki_id, titles);
    const sent = ledger.uploads.filter((upload) => upload.wiki_id === wiki_id);
    await assertIngested(query, blobs, wiki_id, sent);
  }
}

/** Asserts that each record has exactly one audit event, and that every acknowledged record exists. */
async function assertCreated(query: Query, event: string, acknowledged: string[], rows: ReturnType<typeof sql>) {
  const there = (await query<{ id: string }>(rows)).map(({ id }) => id).sort();
  const events = await query<{ id: string }>(sql`select target_id as id from audit_events where type = ${event}`);
  assert.deepEqual(events.map(({ id }) => id).sort(), there, `Each record must have exactly one ${event}.`);
  const lost = acknowledged.filter((id) => !there.includes(id));
  assert.deepEqual(lost, [], `Acknowledged with ${event}, and lost.`);
}

/** Asserts that each name requested with an Idempotency-Key, however often, exists once, with the acknowledged id. */
async function assertCreatedOnce(query: Query, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const made = await query<{ name: string; ids: string[] }>(sql`
    select name, array_agg(workspace_id) as ids from workspaces where name like 'Made %' group by name`);
  for (const { name, ids } of made) {
    assert.deepEqual(ids, [acknowledged.get(name) ?? ids[0]], `${name} must exist once, as it was acknowledged.`);
  }
}

async function assertRenamed(query: Query, wiki_id: string, acknowledged: string[]): Promise<void> {
  const events = await query<{ title: string }>(sql`
    select after ->> 'title' as title from audit_events
    where type = 'wiki.renamed' and target_id = ${wiki_id} order by event_id`);
  const titles = events.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length, 'A rename must leave one event.');
  assert.deepEqual(
    acknowledged.filter((title) => !titles.includes(title)),
    [],
    'Renames were acknowledged and lost.',
  );
  const [wiki] = await query<{ title: string }>(sql`select title from wikis where wiki_id = ${wiki_id}`);
  if (titles.length > 0) assert.equal(wiki?.title, titles.at(-1), 'The title must be that of the last event.');
}

interface FileRow {
  upload_id: string;
  filename: string;
  sha256: string;
  status: string;
  page_id: string;
  source_id: string;
}

/**
 * Asserts that every existing upload succeeded, and that its files made exactly their sources, pages and revisions,
 * once each.
 */
async function assertIngested(query: Query, blobs: string, wiki_id: string, sent: SentUpload[]): Promise<void> {
  const ended = await query<{
    upload_id: string;
    status: string;
    summary: string;
    error: string;
    jobs: string[];
    events: string[];
  }>(sql`
    select upload_id, status, summary, error,
      array(select j.status from jobs j where j.wiki_id = u.wiki_id and j.upload_id = u.upload_id) as jobs,
      array(select type from audit_events e where e.target_id = u.upload_id order by event_id) as events
    from uploads u where wiki_id = ${wiki_id}`);
  for (const { upload_id, status, jobs, events, summary, error } of ended) {
    assert.equal(status, 'completed', `Upload ${upload_id} must succeed, but: ${summary} ${error}`);
    assert.deepEqual(jobs, ['completed'], `Upload ${upload_id} must have one job.`);
    assert.deepEqual(events, ['upload.created', 'upload.completed'], `Upload ${upload_id} must leave two events.`);
  }

  const files = await query<FileRow>(sql`
    select upload_id, filename, sha256, status, page_id, source_id from upload_files
    where wiki_id = ${wiki_id} and kind = 'file' order by upload_id, file_no`);
  const folderOf = new Map(
    files
      .map(({ upload_id, filename }) => [upload_id, filename.split('/')[0]])
      .filter(([, name]) => name?.length === 36) as [string, string][],
  );
  const there = sent.filter(({ folder }) => [...folderOf.values()].includes(folder));
  assert.equal(there.length, ended.length, 'Each upload must be one that was sent, and exist once.');
  for (const { folder, files: sentFiles, upload_id } of there) {
    const [id] = [...folderOf].find(([, name]) => name === folder) ?? [];
    if (upload_id) assert.equal(id, upload_id, 'The upload must be the one that was acknowledged.');
    const stored = files.filter((file) => file.upload_id === id);
    assert.deepEqual(new Map(stored.map((file) => [file.filename, file.sha256])), sentFiles, 'Every file must exist.');
    assert.deepEqual(new Set(stored.map((file) => file.status)), new Set(['done']), 'Every file must be processed.');
    assert.ok(
      stored.every((file) => file.page_id && file.source_id),
      'Every file must have a source and a page.',
    );
  }

  const sources = await query<{ sha256: string; source_id: string }>(sql`
    select sha256, source_id from sources where wiki_id = ${wiki_id}`);
  const contents = new Set(there.flatMap((upload) => [...upload.files.values()]));
  assert.deepEqual(sources.map(({ sha256 }) => sha256).sort(), [...contents].sort(), 'One source for each content.');
  for (const { sha256 } of sources) {
    const bytes = await readFile(join(blobs, sha256.slice(0, 2), sha256));
    assert.equal(
      createHash('sha256').update(bytes).digest('hex'),
      sha256,
      'The stored bytes must be those that were sent.',
    );
  }

  const n = there.length;
  const expected = {
    pages: there
      .flatMap(({ folder }) => [folder, `${folder}/a`, `${folder}/b`])
      .concat(n > 0 ? ['log', 'same'] : [])
      .sort(),
    // Each upload rewrites the log; all other files are written once.
    revisions: n > 0 ? 3 * n + n + 1 : 0,
    texts: n > 0 ? 3 * n + 2 : 0,
    page_sources: n > 0 ? 2 * n + 2 : 0,
    source_texts: contents.size,
    made_sources: contents.size,
  };
  const [counted] = await query<typeof expected>(sql`
    select array(select path from pages where wiki_id = ${wiki_id} order by path) as pages,
      (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
      (select count(*)::int from page_texts where wiki_id = ${wiki_id}) as texts,
      (select count(*)::int from page_sources where wiki_id = ${wiki_id}) as page_sources,
      (select count(*)::int from source_texts where wiki_id = ${wiki_id}) as source_texts,
      (select coalesce(sum(source_count), 0)::int from uploads where wiki_id = ${wiki_id}) as made_sources`);
  assert.deepEqual(counted, expected, 'All sources and pages must exist, once.');
}
