import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { runningPostgres } from '../../src/db/postgres/running.ts';
import { keepAliveSender } from '../../test/keep-alive.ts';
import { zipOf } from '../../test/zip.ts';
import { generatePages, randomNumbers, someWords } from '../corpus.ts';
import { runRound } from '../http-load.ts';
import type { Bench } from '../start-bench.ts';

/** A row of the table. */
export interface Row {
  name: string;
  /** The most that it may cost, in selects of pgbench. */
  aim: number;
  /** Runs for about as long as it is given, and answers how many were done. */
  run(ms: number): Promise<number>;
}

/** Bytes of a page that is created, edited or imported, but for the last ones. */
const WRITTEN_BYTES = 3_000;
/** Files of an upload and of an import. */
const FILES = 500;
const FILE_BYTES = 4_000;

/** The requests that are compared, at `connections` at once. `pages`: those that are read, with their paths in the web application. */
export function listRows(
  { api, wiki_id, dataDir, service, newWiki }: Bench,
  { pages, root, cookie }: { pages: { page_id: string; path: string }[]; root: string; cookie: string },
  connections: number,
): Row[] {
  const { send } = keepAliveSender();
  const random = randomNumbers(19);
  const wiki = `/v1/wikis/${wiki_id}`;
  const bearer = { authorization: `Bearer ${api.token}` };
  const browser = { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' };
  const words = someWords(400);
  const somePage = () => pages[Math.floor(random() * pages.length)] ?? { page_id: '', path: '' };
  const someQuery = () => Array.from({ length: 2 }, () => words[Math.floor(random() * words.length)]).join('+');

  async function call(method: string, path: string, headers: Record<string, string>, body?: object, status = 200) {
    const init = {
      method,
      headers: new Headers({ ...headers, ...(body && { 'content-type': 'application/json' }) }),
      ...(body && { body: JSON.stringify(body) }),
    };
    const answer = await send(service.address + path, init);
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
    return { text, etag: answer.headers.get('etag') ?? '' };
  }

  const repeated = (one: () => Promise<unknown>) => async (ms: number) =>
    (
      await runRound(connections, ms, async () => {
        await one();
      })
    ).requests;

  /** With the merge of the search index, and what else follows. */
  const written = (one: () => Promise<unknown>) => async (ms: number) => {
    const { requests } = await runRound(connections, ms, async () => {
      await one();
    });
    await untilMerged(dataDir);
    return requests;
  };

  const etags = new Map<string, string>();
  const unchanged = async () => {
    const path = `${wiki}/pages/${pages[Math.floor(random() * 50)]?.page_id}`;
    const known = etags.get(path) ?? (await call('GET', path, bearer)).etag;
    etags.set(path, known);
    await call('GET', path, { ...bearer, 'if-none-match': known }, undefined, 304);
  };

  let turn = 0;
  const text = (n: number) =>
    Object.values(generatePages({ from: 900_000 + n, count: 1, bytes: WRITTEN_BYTES }))[0] ?? '';
  const edited: { page_id: string; markdown: string; revision: number }[] = [];
  async function edit() {
    // Each connection has pages of its own: what was taken is put back when it is saved.
    const page = edited.shift() ?? (await create());
    const markdown = page.markdown.replace(/\.(?=\s)/, ` and ${words[turn++ % words.length]}.`);
    const { text: answer } = await call('PATCH', `${wiki}/pages/${page.page_id}`, bearer, {
      markdown,
      base_revision: page.revision,
    });
    edited.push({ ...page, markdown, revision: JSON.parse(answer).revision });
  }
  async function create() {
    const markdown = text(turn++);
    const body = { title: `Written ${turn}`, markdown };
    const { text: answer } = await call('POST', `${wiki}/pages`, bearer, body, 201);
    const { page_id, revision } = JSON.parse(answer);
    return { page_id, markdown, revision };
  }

  let from = 1_000_000;
  const files = () => {
    from += FILES;
    return generatePages({ from, count: FILES, bytes: FILE_BYTES });
  };
  async function upload() {
    await api.upload(await newWiki(), files());
    await untilMerged(dataDir);
    return FILES;
  }
  async function importFiles() {
    const form = new FormData();
    const zip = zipOf(Object.entries(files()).map(([name, content]) => [name, content] as const));
    form.append('file', new Blob([new Uint8Array(zip)]), 'pages.zip');
    const into = await newWiki();
    const { job_id } = await api.post(`/v1/wikis/${into}/imports`, form);
    for (let job = { status: 'queued', error: '' }; job.status !== 'completed'; await delay(50)) {
      job = await api.get(`/v1/wikis/${into}/jobs/${job_id}`);
      if (job.status === 'failed') throw new Error(`the import failed: ${job.error}`);
    }
    await untilMerged(dataDir);
    return FILES;
  }

  return [
    { name: 'page read', aim: 22, run: repeated(() => call('GET', `${wiki}/pages/${somePage().page_id}`, bearer)) },
    { name: 'the same, 304', aim: 14, run: repeated(unchanged) },
    { name: 'list of 50', aim: 40, run: repeated(() => call('GET', `${wiki}/pages`, bearer)) },
    {
      name: 'search, 20 hits',
      aim: 130,
      run: repeated(() => call('GET', `${wiki}/pages/search?limit=20&query=${someQuery()}`, bearer)),
    },
    { name: 'page in the browser', aim: 80, run: repeated(() => call('GET', `${root}/${somePage().path}`, browser)) },
    {
      name: 'search in the browser',
      aim: 180,
      run: repeated(() => call('GET', `${root}/-/search?query=${someQuery()}`, browser)),
    },
    { name: 'create', aim: 450, run: written(create) },
    { name: 'edit', aim: 400, run: written(edit) },
    { name: 'upload, a page', aim: 350, run: upload },
    { name: 'import, a page', aim: 350, run: importFiles },
  ];
}

/** Waits until the search index has what was written. */
export async function untilMerged(dataDir: string): Promise<void> {
  const database = new Client(runningPostgres(dataDir));
  await database.connect();
  try {
    while ((await database.query('select from search_pending limit 1')).rowCount) await delay(100);
  } finally {
    await database.end();
  }
}
