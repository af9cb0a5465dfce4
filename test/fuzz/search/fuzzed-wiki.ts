import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import yazl from 'yazl';
import { sql } from '../../../src/platform/db/sql.ts';
import { until } from '../../until.ts';
import type { Client, World } from '../../world.ts';
import type { Asker } from './asker.ts';
import { compareIndex } from './index-digest.ts';
import { below, type FuzzedDocument, ownWord, pick, type Random, someDocument, someQuery } from './texts.ts';

interface StoredDocument extends FuzzedDocument {
  /** A word that no other document has. */
  own: string;
  page_id: string;
  revision: number;
  isDraft: boolean;
  /** At most one request changes a document at a time. */
  isBusy: boolean;
}

/** A wiki of random documents that change while queries run. */
export interface FuzzedWiki {
  documents(): number;
  /** Imports documents as files of an archive; `from` is the number of the first. */
  importDocuments(from: number, count: number, random: Random): Promise<void>;
  change(random: Random): Promise<void>;
  query(random: Random): Promise<void>;
  /** Waits until all postings are merged, and compares the index with a rebuild from the stored texts. */
  compareIndex(): ReturnType<typeof compareIndex>;
}

export async function openFuzzedWiki(world: World, asker: Asker): Promise<FuzzedWiki> {
  const owner = await world.owner();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const stored: StoredDocument[] = [];
  /** The value of `changes` when a page was deleted or became a draft, by page. */
  const deleted = new Map<string, number>();
  const drafts = new Map<string, number>();
  let changes = 0;
  const folders: string[] = [];

  async function importDocuments(from: number, count: number, random: Random): Promise<void> {
    const documents = Array.from({ length: count }, (_, n) => ({ ...someDocument(random), own: ownWord(from + n) }));
    const zip = new yazl.ZipFile();
    for (const [n, { title, text, own }] of documents.entries())
      zip.addBuffer(
        Buffer.from(`# ${title}\n\n${text}\n\n${own}\n`),
        `${n % 2 === 0 ? 'even' : 'odd'}-${from}/document-${n}.md`,
      );
    zip.end();
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(await buffer(zip.outputStream))]), 'documents.zip');
    const answer = await fetch(`${world.address}${wiki}/imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}` },
      body: form,
    });
    const body: any = await answer.json();
    assert.equal(answer.status, 201, JSON.stringify(body));
    const job = await until(
      'the documents are imported',
      async () => (await owner.get(`${wiki}/jobs/${body.job_id}`)).body,
      ({ status }) => status !== 'queued' && status !== 'running',
    );
    assert.equal(job.status, 'completed', JSON.stringify(job));
    const rows = await world.db.query<{ page_id: string; path: string; revision: number }>(sql`
      select page_id, path, revision from pages where wiki_id = ${owner.wiki_id} and path like any (${[`even-${from}/%`, `odd-${from}/%`]}::text[])`);
    assert.equal(rows.length, documents.length);
    folders.push(`even-${from}`, `odd-${from}`);
    for (const { page_id, path, revision } of rows) {
      const document = documents[Number(path.slice(path.lastIndexOf('-') + 1))];
      assert.ok(document, path);
      stored.push({ ...document, page_id, revision, isDraft: false, isBusy: false });
    }
  }

  async function change(random: Random): Promise<void> {
    const document = pick(stored, random);
    if (!document || document.isBusy) return;
    document.isBusy = true;
    const path = `${wiki}/pages/${document.page_id}`;
    const way = random();
    if (way < 0.15) {
      const { status } = await owner.send('DELETE', path);
      assert.equal(status, 204);
      deleted.set(document.page_id, ++changes);
      stored.splice(stored.indexOf(document), 1);
      return;
    }
    const { title, text } = someDocument(random);
    // The page may become visible at any time from here on.
    if (way < 0.3) drafts.delete(document.page_id);
    const body =
      way < 0.3
        ? { status: document.isDraft ? 'published' : 'draft' }
        : way < 0.5
          ? { title }
          : { markdown: `${text}\n\n${document.own}\n` };
    const answer = await owner.patch(path, { ...body, base_revision: document.revision });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    document.revision = answer.body.revision;
    document.isDraft = answer.body.status === 'draft';
    if (document.isDraft) drafts.set(document.page_id, ++changes);
    document.isBusy = false;
  }

  /** Picks an endpoint for a query, as the owner or a viewer: search of pages or sources, suggestions or counts. */
  function someRequest(query: string, random: Random): { client: Client; path: string } {
    const parameters = [`query=${encodeURIComponent(query)}`];
    const what = random();
    if (what < 0.8) {
      // Most users look only at the first results.
      if (random() < 0.9) parameters.push(`limit=${1 + below(random() < 0.1 ? 100 : 10, random)}`);
      if (random() < 0.1) parameters.push(`offset=${below(random() < 0.1 ? 10_000 : 100, random)}`);
      if (random() < 0.1) parameters.push(`sort=${pick(['updated', 'created', 'title', 'relevance'], random)}`);
      if (random() < 0.05) parameters.push(`status=${pick(['draft', 'published', 'archived'], random)}`);
      if (random() < 0.05) parameters.push(`in=${pick(folders, random)}`);
    }
    const path =
      what < 0.75
        ? 'pages/search'
        : what < 0.8
          ? 'sources/search'
          : what < 0.95
            ? 'suggest'
            : `pages/search/${what < 0.97 ? 'view' : 'facets'}`;
    return { client: random() < 0.2 ? viewer : owner, path: `${wiki}/${path}?${parameters.join('&')}` };
  }

  /** Every tenth query is for the unique word of a document. */
  async function query(random: Random): Promise<void> {
    const isOwn = random() < 0.1;
    const wanted = isOwn ? pick(stored, random) : undefined;
    const text = wanted ? `${random() < 0.5 ? '+' : ''}${wanted.own}` : someQuery(stored, random);
    const { client, path } = wanted
      ? { client: owner, path: `${wiki}/pages/search?query=${encodeURIComponent(text)}` }
      : someRequest(text, random);
    const before = changes;
    /** Pages that were deleted, or hidden from this reader, before the request was sent must not be in its answer. */
    const isHidden = (id: string) =>
      (deleted.get(id) ?? Number.POSITIVE_INFINITY) <= before ||
      (client === viewer && (drafts.get(id) ?? Number.POSITIVE_INFINITY) <= before);
    const { status, body } = await asker.ask(client, path);
    const told = `${path} answers ${status}: ${JSON.stringify(body).slice(0, 500)}`;
    if (text.includes('\0')) return assert.equal(status, 400, told);
    assert.equal(status, 200, told);
    if (body.total !== undefined) return assert.ok(body.total >= 0, told);
    for (const { page_id, snippet } of body.hits ?? body) {
      assert.ok(!isHidden(page_id), `${path} shows ${page_id}`);
      if (snippet !== undefined) assert.doesNotMatch(snippet.replace(/<\/?mark>/g, ''), /[<>"]/, told);
    }
    if (wanted && !wanted.isBusy && !deleted.has(wanted.page_id))
      assert.ok(
        body.some(({ page_id }: { page_id: string }) => page_id === wanted.page_id),
        `${wanted.page_id} is not found: ${told}`,
      );
  }

  return {
    documents: () => stored.length,
    importDocuments,
    change,
    query,
    async compareIndex() {
      await until(
        'all is merged',
        async () =>
          (
            await world.db.query<{ waiting: number; reindexing: number }>(sql`
              select (select count(*) from search_pending)::int as waiting,
                (select count(*) from search_wikis where is_stale)::int
                  + (select count(*) from jobs where kind = 'reindex' and status in ('queued', 'running'))::int as reindexing`)
          )[0],
        (seen) => seen?.waiting === 0 && seen.reindexing === 0,
      );
      return compareIndex(world, owner.wiki_id);
    },
  };
}
