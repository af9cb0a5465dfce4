import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { someWords } from '../corpus.ts';

/** Kinds of requests with their shares, in percent. */
const SHARES = {
  read: 50,
  list: 5,
  tree: 5,
  search: 12,
  preview: 4,
  edit: 12,
  create: 5,
  remove: 4,
  upload: 3,
} as const;
type Kind = keyof typeof SHARES;
const WRITES: ReadonlySet<Kind> = new Set(['edit', 'create', 'remove', 'upload']);

/** Maximum number of concurrent requests. At this limit the service cannot keep up, and the latencies show it. */
const AT_ONCE = 64;
const PARAGRAPH =
  'The pressure of the gas rises with its temperature, as the table of the appendix shows for each of them. ';

interface LoadOptions {
  token: string;
  wiki_id: string;
  /** Requests a second. */
  rate: number;
  random: () => number;
  /** Address of the service; undefined while it restarts. */
  address(): string | undefined;
}

interface Written {
  /** SHA-256 of the texts that a read may return: the acknowledged text, and texts sent later without an answer. */
  texts: Set<string>;
  etag: string;
  isBusy: boolean;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Sends requests of all kinds at a steady rate until `stop`, and records acknowledged writes. */
export function startMixedLoad({ token, wiki_id, rate, random, address }: LoadOptions) {
  const wiki = `/v1/wikis/${wiki_id}`;
  const words = someWords(400);
  const pages = new Map<string, Written>();
  const counts = { answered: 0, written: 0, unavailable: 0, unanswered: 0 };
  const wrong: string[] = [];
  let latencies: { kind: Kind; ms: number }[] = [];
  let isOver = false;
  let isDisturbed = false;
  let disturbances = 0;
  let inProgress = 0;
  let sent = 0;

  async function send(
    kind: Kind,
    method: string,
    path: string,
    body?: object | FormData,
    more: Record<string, string> = {},
  ) {
    const begun = { isDisturbed, disturbances };
    const begin = performance.now();
    const isForm = body instanceof FormData;
    try {
      const answer = await fetch(address() + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && !isForm && { 'content-type': 'application/json' }),
          ...more,
        },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      counts.answered += 1;
      if (answer.ok) {
        latencies.push({ kind, ms: performance.now() - begin });
        if (WRITES.has(kind)) counts.written += 1;
        return { ...(text !== '' && JSON.parse(text)), etag: answer.headers.get('etag') };
      }
      if (answer.status === 503 && answer.headers.has('retry-after')) counts.unavailable += 1;
      else wrong.push(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
    } catch (error) {
      counts.unanswered += 1;
      if (!begun.isDisturbed && begun.disturbances === disturbances)
        wrong.push(`${method} ${path} has no answer: ${String((error as Error).cause ?? error)}`);
    }
    return undefined;
  }

  const textOf = () => `${PARAGRAPH.repeat(5 + Math.floor(30 * random()))}\n\nWritten as number ${sent}.\n`;
  const pick = () => [...pages.keys()][Math.floor(random() * pages.size)];

  const kinds: Record<Kind, () => Promise<unknown>> = {
    read: () => {
      const page_id = pick();
      return page_id ? send('read', 'GET', `${wiki}/pages/${page_id}`) : Promise.resolve();
    },
    list: () => send('list', 'GET', `${wiki}/pages?limit=50`),
    tree: () => send('tree', 'GET', `${wiki}/tree`),
    search: () => {
      const query = `${words[Math.floor(random() * words.length)]}+${words[Math.floor(random() * words.length)]}`;
      return send('search', 'GET', `${wiki}/pages/search?query=${query}`);
    },
    preview: () => send('preview', 'POST', `${wiki}/preview`, { markdown: textOf() }),
    async create() {
      const markdown = textOf();
      const page = await send('create', 'POST', `${wiki}/pages`, { title: `Soak ${sent}`, markdown });
      if (page) pages.set(page.page_id, { texts: new Set([hashOf(markdown)]), etag: page.etag, isBusy: false });
    },
    async edit() {
      const page_id = pick();
      const page = page_id && pages.get(page_id);
      if (!page || page.isBusy) return;
      page.isBusy = true;
      const markdown = textOf();
      page.texts.add(hashOf(markdown));
      const path = `${wiki}/pages/${page_id}`;
      const now = await send('edit', 'PATCH', path, { markdown }, { 'if-match': page.etag });
      if (now) {
        page.texts = new Set([hashOf(markdown)]);
        page.etag = now.etag;
        page.isBusy = false;
      }
      // Without an answer its ETag is unknown, so the page is only read from now on.
    },
    async remove() {
      const page_id = pages.size > 200 ? pick() : undefined;
      const page = page_id && pages.get(page_id);
      if (!page || page.isBusy) return;
      pages.delete(page_id);
      await send('remove', 'DELETE', `${wiki}/pages/${page_id}`);
    },
    upload: () => {
      const form = new FormData();
      form.append('files', new Blob([`# Upload ${sent}\n\n${textOf()}`]), `soak/${sent % 500}.md`);
      return send('upload', 'POST', `${wiki}/uploads`, form);
    },
  };

  const turns = (Object.keys(SHARES) as Kind[]).flatMap((kind) => Array.from({ length: SHARES[kind] }, () => kind));
  const done = (async () => {
    const begin = performance.now();
    while (!isOver) {
      const due = begin + (1000 * sent) / rate;
      await delay(Math.max(0, due - performance.now()));
      sent += 1;
      if (inProgress >= AT_ONCE || address() === undefined) continue;
      inProgress += 1;
      const kind = turns[Math.floor(random() * turns.length)] ?? 'read';
      void kinds[kind]().finally(() => {
        inProgress -= 1;
      });
    }
    while (inProgress > 0) await delay(50);
  })();

  return {
    counts,
    /** Answers that no client may get. */
    wrong,
    /** Sets whether a process is being killed, so that connections may break. */
    setDisturbed(now: boolean) {
      isDisturbed = now;
      if (now) disturbances += 1;
    },
    /** Returns the median and 99th percentile in ms since the last call. */
    takeLatencies() {
      const taken = latencies;
      latencies = [];
      const of = (isWrite: boolean) => {
        const sorted = taken
          .filter(({ kind }) => WRITES.has(kind) === isWrite)
          .map(({ ms }) => ms)
          .sort((a, b) => a - b);
        const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
        return { p50: at(0.5), p99: at(0.99) };
      };
      return { reads: of(false), writes: of(true) };
    },
    /** Stops sending and waits for the requests in progress. */
    async stop() {
      isOver = true;
      await done;
    },
    /** Returns the pages whose text was neither acknowledged nor possibly stored. */
    async differing(): Promise<string[]> {
      const found: string[] = [];
      for (const [page_id, { texts }] of pages) {
        const page = await send('read', 'GET', `${wiki}/pages/${page_id}`);
        if (!page || !texts.has(hashOf(page.markdown)))
          found.push(`page ${page_id} has another text than was acknowledged`);
      }
      return found;
    },
  };
}
