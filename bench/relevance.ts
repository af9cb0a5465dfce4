import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from './api.ts';

/** A collection with judgements: corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels.tsv. */
export interface Collection {
  documents: { _id: string; title: string; text: string }[];
  queries: { _id: string; text: string }[];
  /** By query, the relevance of each document; above 0 is relevant. */
  judged: Map<string, Map<string, number>>;
}

export function readCollection(folder: string): Collection {
  if (!existsSync(join(folder, 'qrels.tsv'))) {
    throw new Error(`${folder} holds no collection: name a folder with corpus.jsonl, queries.jsonl and qrels.tsv`);
  }
  const linesOf = (name: string) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
  const judged: Collection['judged'] = new Map();
  for (const line of linesOf('qrels.tsv').slice(1)) {
    const [query = '', document = '', score] = line.split('\t');
    const own = judged.get(query) ?? new Map<string, number>();
    judged.set(query, own.set(document, Number(score)));
  }
  return {
    documents: linesOf('corpus.jsonl').map((line) => JSON.parse(line)),
    queries: linesOf('queries.jsonl').map((line) => JSON.parse(line)),
    judged,
  };
}

export interface Relevance {
  queries: number;
  ndcg10: number;
  recall100: number;
  /** Queries without any result. */
  empty: number;
}

/**
 * Writes the documents as pages, runs every query that has a relevant document, and scores the results like trec_eval.
 */
export async function measureRelevance(api: Api, wiki_id: string, collection: Collection): Promise<Relevance> {
  const documentOf = new Map<string, string>();
  await inParallel(8, collection.documents, async ({ _id, title, text }) => {
    const body = { title: title.trim().slice(0, 255) || `Untitled ${_id}`, markdown: text };
    documentOf.set((await api.post(`/v1/wikis/${wiki_id}/pages`, body)).page_id, _id);
  });
  const relevance = { queries: 0, ndcg10: 0, recall100: 0, empty: 0 };
  for (const { _id, text } of collection.queries) {
    const relevant = collection.judged.get(_id);
    const ideal = [...(relevant?.values() ?? [])].filter((gain) => gain > 0).sort((a, b) => b - a);
    if (!relevant || ideal.length === 0) continue;
    const query = encodeURIComponent(text.slice(0, 1_024));
    const hits: { page_id: string }[] = await api.get(`/v1/wikis/${wiki_id}/pages/search?query=${query}&limit=100`);
    const gains = hits.map(({ page_id }) => Math.max(0, relevant.get(documentOf.get(page_id) ?? '') ?? 0));
    relevance.queries += 1;
    relevance.ndcg10 += discounted(gains) / discounted(ideal);
    relevance.recall100 += gains.filter((gain) => gain > 0).length / ideal.length;
    if (hits.length === 0) relevance.empty += 1;
  }
  const { queries, ndcg10, recall100, empty } = relevance;
  return { queries, ndcg10: ndcg10 / queries, recall100: recall100 / queries, empty };
}

function discounted(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
}

/** Runs the work over all items, at most `lanes` at a time. */
export async function inParallel<T>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < items.length; i = next++) await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
