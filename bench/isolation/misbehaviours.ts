import { setTimeout as delay } from 'node:timers/promises';
import { docxOf, wordParagraph, zipOf } from '../../test/zip.ts';
import { shortPages, someWords } from '../corpus.ts';

/** The tenant that misbehaves: one user with one key, until `isOver` returns true. */
export interface Offender {
  workspace_id: string;
  wiki_id: string;
  isOver(): boolean;
  /** Sends a request and counts its answer; returns undefined without an answer. */
  send(
    method: string,
    path: string,
    body?: string | FormData,
    headers?: Record<string, string>,
  ): Promise<Answer | undefined>;
  /** Opens a stream of events that stays open. `token`: another key to use. */
  openStream(path: string, token?: string): void;
  /**
   * Opens a connection and sends a request at a byte a second. With `leaves`, closes the connection before the request
   * is complete, and opens the next one; the end of each connection counts as a request without an answer.
   */
  openSlowly(method: string, path: string, leaves?: boolean): void;
}

interface Answer {
  status: number;
  body: any;
}

export interface Misbehaviour {
  name: string;
  /** Pages that its wiki needs, as a fraction of the option `--pages`. */
  pages?: number;
  run(offender: Offender): Promise<void>;
}

/** Runs `count` lanes at once, each working in sequence. */
async function lanes(
  count: number,
  { isOver }: Offender,
  one: (lane: number, turn: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, lane) => {
      for (let turn = 0; !isOver(); turn += 1) await one(lane, turn);
    }),
  );
}

/** Starts `perSecond` requests a second, whether or not they are answered; at most 400 wait for an answer. */
async function rate(perSecond: number, { isOver }: Offender, one: (turn: number) => Promise<unknown>): Promise<void> {
  const waiting = new Set<Promise<unknown>>();
  const began = performance.now();
  for (let turn = 0; !isOver(); ) {
    const due = ((performance.now() - began) / 1000) * perSecond;
    for (; turn < due; turn += 1) {
      if (waiting.size >= 400) continue;
      const sent = one(turn).finally(() => waiting.delete(sent));
      waiting.add(sent);
    }
    await delay(10);
  }
}

const ladder = Array.from({ length: 1_400 }, (_, i) => `${'`'.repeat(i + 1)} `).join('');
const HEAVY = [ladder, '['.repeat(1_000_000), '- a **b** [c](d) `e`\n'.repeat(50_000), '![['.repeat(400_000)].map(
  (markdown) => JSON.stringify({ markdown }),
);
const MEGABYTE = JSON.stringify({ title: 'Large', markdown: '- a **b** [c](d) `e`\n'.repeat(50_000) });
const WRONG = JSON.stringify({ files: Array.from({ length: 345_000 }, () => ({})) });

let archive: Uint8Array | undefined;
function tenThousandFiles(): Uint8Array {
  const texts = Object.values(shortPages());
  archive ??= zipOf(
    Array.from(
      { length: 10_000 },
      (_, i) => [`n${i % 100}/page-${i}.md`, `${texts[i % texts.length]}\n${i}\n`] as const,
    ),
  );
  return archive;
}

function hostileFiles(): [string, Uint8Array][] {
  const zeros = Buffer.alloc(20_000_000);
  const bomb = zipOf(Array.from({ length: 100 }, (_, i) => [`z${i}.md`, zeros] as const));
  const nested = zipOf([
    ['a.zip', bomb],
    ['b.zip', bomb],
  ]);
  const laughs =
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">' +
    Array.from({ length: 9 }, (_, i) => `<!ENTITY ${'bcdefghij'[i]} "${`&${'abcdefghi'[i]};`.repeat(10)}">`).join('') +
    ']><html><body><p>&j;</p></body></html>';
  return [
    ['bomb.zip', bomb],
    ['nested.zip', nested],
    ['laughs.html', Buffer.from(laughs)],
    ['deep.docx', docxOf('<w:tbl><w:tr><w:tc>'.repeat(20_000) + wordParagraph('x'))],
    ['wide.docx', docxOf(wordParagraph('many words '.repeat(20)).repeat(30_000))],
    ['quote.md', Buffer.from('>'.repeat(100_000))],
    ['table.csv', Buffer.from('a,b,c\n'.repeat(300_000))],
    ...Array.from({ length: 10 }, (_, i): [string, Uint8Array] => [
      `f${i}.md`,
      Buffer.from(`${'![['.repeat(500_000)}${i}`),
    ]),
  ];
}

function formOf(field: string, name: string, bytes: Uint8Array): FormData {
  const form = new FormData();
  form.append(field, new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  return form;
}

const wiki = ({ wiki_id }: Offender) => `/v1/wikis/${wiki_id}`;

/** Ways to misbehave while another tenant works. */
export const MISBEHAVIOURS: readonly Misbehaviour[] = [
  {
    // Sends no request. This is the effect of any other process on the same cores, and the lower bound for all rows.
    name: 'a process that computes',
    async run({ isOver }) {
      while (!isOver()) {
        for (const end = performance.now() + 50; performance.now() < end; );
        await delay(0);
      }
    },
  },
  {
    name: '100 heavy previews/s',
    run: (it) => rate(100, it, (turn) => it.send('POST', `${wiki(it)}/preview`, HEAVY[turn % HEAVY.length])),
  },
  { name: '30 huge 422s at once', run: (it) => lanes(30, it, () => it.send('POST', `${wiki(it)}/uploads`, WRONG)) },
  {
    name: '200 writes of 1 MB, keyed',
    run: (it) =>
      lanes(200, it, (lane, turn) =>
        it.send('POST', `${wiki(it)}/pages`, MEGABYTE, { 'idempotency-key': `k${lane}-${turn}` }),
      ),
  },
  {
    name: 'uploads of 10,000 files',
    run: (it) =>
      lanes(2, it, async () => {
        await it.send('POST', `${wiki(it)}/uploads`, formOf('files', 'many.zip', tenThousandFiles()));
        await delay(1_000);
      }),
  },
  {
    name: 'hostile archives',
    async run(it) {
      const files = hostileFiles();
      await lanes(4, it, async (lane, turn) => {
        const [name, bytes] = files[(lane + 4 * turn) % files.length] ?? ['', Buffer.alloc(0)];
        await it.send('POST', `${wiki(it)}/uploads`, formOf('files', name, bytes));
        await delay(300);
      });
    },
  },
  {
    name: 'exports and imports',
    pages: 0.1,
    run: (it) =>
      lanes(2, it, async (lane) => {
        if (lane === 0) await it.send('POST', `${wiki(it)}/exports`);
        else {
          const made = await it.send(
            'POST',
            `/v1/workspaces/${it.workspace_id}/wikis`,
            JSON.stringify({ title: 'Import' }),
          );
          const target = made?.body?.wiki_id;
          if (target)
            await it.send('POST', `/v1/wikis/${target}/imports`, formOf('file', 'many.zip', tenThousandFiles()));
        }
        await delay(1_000);
      }),
  },
  {
    name: 'searches of 150 words',
    async run(it) {
      const words = someWords(150)
        .map((word) => word.slice(0, 6))
        .join(' ')
        .slice(0, 1_000);
      // Upload the pages that the queries find.
      await it.send('POST', `${wiki(it)}/uploads`, formOf('files', 'many.zip', tenThousandFiles()));
      await lanes(20, it, () => it.send('GET', `${wiki(it)}/pages/search?limit=50&query=${encodeURIComponent(words)}`));
    },
  },
  {
    name: '2,000 event streams',
    async run(it) {
      const made = await it.send('POST', `${wiki(it)}/uploads`, formOf('files', 'many.zip', tenThousandFiles()));
      const jobs = await it.send('GET', `${wiki(it)}/jobs?upload_id=${made?.body?.upload_id}`);
      const path = `${wiki(it)}/jobs/${jobs?.body?.[0]?.job_id}/events`;
      for (let key = 0; key < 100 && !it.isOver(); key += 1) {
        const personal = await it.send('POST', '/v1/me/api-keys', JSON.stringify({ name: `key ${key}` }));
        for (let i = 0; i < 20; i += 1) it.openStream(path, personal?.body?.secret ?? personal?.body?.key);
      }
      while (!it.isOver()) await delay(100);
    },
  },
  {
    name: 'deep offsets',
    pages: 1,
    run: (it) =>
      lanes(20, it, (_, turn) => it.send('GET', `${wiki(it)}/pages?limit=500&offset=${90_000 + (turn % 10) * 500}`)),
  },
  {
    name: '1,000 slow or leaving clients',
    async run(it) {
      for (let i = 0; i < 1_000 && !it.isOver(); i += 1) it.openSlowly('PATCH', wiki(it), i % 2 === 1);
      while (!it.isOver()) await delay(100);
    },
  },
  { name: 'tree of all pages', pages: 1, run: (it) => lanes(10, it, () => it.send('GET', `${wiki(it)}/tree`)) },
  {
    name: '100 invitations/s',
    run: (it) =>
      rate(100, it, (turn) =>
        it.send(
          'POST',
          `/v1/workspaces/${it.workspace_id}/members/invite`,
          JSON.stringify({ email: `p${turn}@example.com`, role: 'viewer' }),
        ),
      ),
  },
  {
    name: 'deletes and restores of all',
    pages: 1,
    run: (it) =>
      lanes(1, it, async () => {
        await it.send('DELETE', `${wiki(it)}/pages/page_root`);
        await it.send('POST', `${wiki(it)}/pages/page_root/restore`);
      }),
  },
];
