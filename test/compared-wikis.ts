import assert from 'node:assert/strict';
import { ENDPOINTS } from '../src/app.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { type Ids, nameOf, pathOf, propertiesOf } from './requests.ts';
import type { Answer, Client, World } from './world.ts';

/** A wiki that is compared with another one, and its records by the same labels. */
export interface ComparedWiki {
  wiki_id: string;
  api: string;
  /** Labels by id, in the order of creation. */
  ids: Map<string, string>;
}

/** What to ask a pair of wikis. */
export interface Questions {
  queries: readonly string[];
  paths: readonly string[];
  tags: readonly string[];
  /** Ids of no object, for parameters without a label. */
  unknown: Ids;
}

export const WIKI_ENDPOINTS = ENDPOINTS.filter(({ method, access }) => method === 'GET' && access.on === 'wiki');

export async function must({ status, body }: Answer): Promise<Answer['body']> {
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

/** Makes an empty wiki to compare. Its slug must be one of `wiki-1`, `wiki-2`, … */
export async function newComparedWiki(owner: Client, workspace_id: string, slug: string): Promise<ComparedWiki> {
  const { wiki_id } = await must(await owner.post(`/v1/workspaces/${workspace_id}/wikis`, { title: 'Compared', slug }));
  return { wiki_id, api: `/v1/wikis/${wiki_id}`, ids: new Map([[wiki_id, 'wiki']]) };
}

/** Uploads files and labels the upload and its job. */
export async function uploadTo(
  world: World,
  { wiki_id, api, ids }: ComparedWiki,
  client: Client,
  label: string,
  files: Record<string, string>,
): Promise<void> {
  const { status, upload_id } = await must(await world.upload(client, wiki_id, files));
  assert.equal(status, 'completed');
  const [job] = await must(await client.get(`${api}/jobs?upload_id=${upload_id}`));
  ids.set(upload_id, `upload ${label}`).set(job.job_id, `job ${label}`);
}

/** Labels the pages and sources that have no label yet, by path and file name, as this client sees them. */
export async function labelRest({ api, ids }: ComparedWiki, client: Client): Promise<void> {
  for (const { page_id, path } of await must(await client.get(`${api}/pages?limit=500`))) {
    if (!ids.has(page_id)) ids.set(page_id, path);
  }
  for (const { source_id, filename } of await must(await client.get(`${api}/sources?limit=500`))) {
    ids.set(source_id, `source ${filename}`);
  }
}

export async function mergeIndexes({ db }: World, { wiki_id }: ComparedWiki): Promise<void> {
  for (const kind of ['page', 'source'] as const) while ((await mergePending(db, wiki_id, kind, 'wait')) > 0);
}

/** Returns the id of the record with a label; an unknown id of the same kind if the wiki has no such record. */
export function idOf(wiki: ComparedWiki, label: string, like = 'page_'): string {
  for (const [id, other] of wiki.ids) if (other === label) return id;
  return like.replace(/_.*/, '_01jd8w3v6xf3e8h2k9m4n5p6s1');
}

/** Returns pairs of the same address in both wikis, for each record of the first one. */
export function addressesOf(
  endpoint: Endpoint,
  [one, two]: readonly [ComparedWiki, ComparedWiki],
  questions: Questions,
): [string, string][] {
  const [first, second] = [one, two].map((wiki) => addressesIn(endpoint, wiki, one, questions));
  return (first ?? []).map((address, i) => [address, second?.[i] ?? assert.fail(nameOf(endpoint))]);
}

function addressesIn(
  endpoint: Endpoint,
  wiki: ComparedWiki,
  labels: ComparedWiki,
  { queries, paths, tags, unknown }: Questions,
): string[] {
  const idsOf = (prefix: string) =>
    [...labels.ids].flatMap(([id, label]) => (id.startsWith(prefix) ? idOf(wiki, label, id) : []));
  const pages = idsOf('page_');
  const values: Record<string, readonly string[]> = {
    wiki_id: [wiki.wiki_id],
    page_id: pages,
    source_id: idsOf('source_'),
    upload_id: idsOf('upload_'),
    job_id: idsOf('job_'),
    page_path: paths,
    revision: ['1', '2'],
  };
  const fill = (ids: Ids, [name, ...rest]: string[]): Ids[] =>
    name === undefined
      ? [ids]
      : (values[name] ?? [ids[name] ?? '']).flatMap((id) => fill({ ...ids, [name]: id }, rest));
  const names = [...endpoint.path.matchAll(/[:*]([a-z_]+)/g)].map(([, name = '']) => name);
  const query = propertiesOf(endpoint.query);
  return fill(unknown, names).flatMap((ids) => {
    const path = pathOf(endpoint, ids);
    const paged = 'offset' in query ? ['limit=2&offset=1', 'limit=1'] : [];
    if ('query' in query) {
      const asked = queries.map((text) => `${path}?query=${encodeURIComponent(text)}`);
      return [...asked, ...paged.flatMap((part) => asked.slice(-2).map((address) => `${address}&${part}`))];
    }
    const ofPages = 'page_id' in query ? ['', ...pages].map((id) => `${path}?page_id=${id}`) : [];
    const tagged = 'tag' in query ? tags.map((tag) => `${path}?tag=${tag}`) : [];
    return [path, ...paged.map((part) => `${path}?${part}`), ...ofPages, ...tagged];
  });
}

/**
 * As `masked`, without scores: the lengths of hidden texts are part of the average by which scores are normalized, so
 * scores differ in the second digit.
 */
export function maskedScores(answer: Answer, wiki: ComparedWiki): string {
  return masked(answer, wiki).replaceAll(/"score":[\d.]+/g, '"score":<score>');
}

/**
 * Replaces the parts that differ between two wikis with the same content: ids, times, the versions of trees, and hashes of
 * these.
 */
export function masked({ status, body, headers }: Answer, wiki: ComparedWiki): string {
  const etag = headers.get('etag')?.replace(/^"(\d+-)?(?:[0-9a-f]{20}|[\w-]{16})"$/, '"$1<hash>"');
  const link = headers.get('link')?.replaceAll(/(?<=[?&]after=)[\w-]+/g, '<cursor>');
  return withoutIds(JSON.stringify({ status, etag, link, total: headers.get('x-total-count'), body }), wiki)
    .replaceAll(/id: [\w-]{16}(?=\\nevent: )/g, 'id: <hash>')
    .replaceAll(/"slug":"wiki-\d+"/g, '"slug":"<wiki>"');
}

/** Replaces ids by labels, and times. */
function withoutIds(text: string, { ids }: ComparedWiki): string {
  return withoutTimes(
    text
      .replaceAll(/\b(?:page|wiki|source|upload|job)_[0-9a-z]{26}\b/g, (id) => (ids.has(id) ? `<${ids.get(id)}>` : id))
      .replaceAll(/\b(?:page|req|evt|file|attachment|source|upload|job)_[0-9a-z]{26}\b/g, '<id>'),
  );
}

/** Replaces times, and the versions of trees. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').replaceAll(/\b\d+-\d{16}\b/g, '<version>');
}
