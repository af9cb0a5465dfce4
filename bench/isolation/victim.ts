import { setTimeout as delay } from 'node:timers/promises';

export const KINDS = ['read', 'search', 'save', 'preview', 'upload'] as const;
export type Kind = (typeof KINDS)[number];

export interface Measured {
  latencies_ms: number[];
  /** Answers of 400 and more. */
  refused: number;
  /** Requests without an answer in time, and acknowledged writes that are missing at the end. */
  lost: number;
}

export type Round = Record<Kind, Measured>;

export interface Victim {
  /** Runs all kinds concurrently for `ms`, the requests of a kind in sequence. */
  run(ms: number): Promise<Round>;
}

/** Longer than any limit of the service. */
const GIVE_UP_MS = 35_000;
/** Pauses between two requests of a kind: the load of a few users, not a load test. */
const PAUSES_MS: Record<Kind, number> = { read: 10, search: 25, save: 50, preview: 50, upload: 100 };

/** Factor for the pauses if rate limits are on, so that no request of a member is refused. */
const WITHIN_LIMITS = 3;

/**
 * Opens the measured tenant. `tokens`: keys of the members of a team, who take turns. `isLimited`: they stay within the
 * rate limits of the service.
 */
export function openVictim(
  address: string,
  { tokens, isLimited }: { tokens: readonly string[]; isLimited: boolean },
  wiki_id: string,
  page_ids: readonly string[],
): Victim {
  const wiki = `/v1/wikis/${wiki_id}`;
  const slower = isLimited ? WITHIN_LIMITS : 1;
  const revisions = new Map<string, number>();
  let turn = 0;
  let sent = 0;

  async function send(method: string, path: string, body?: string | FormData) {
    const type: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${tokens[sent++ % tokens.length]}`, ...type };
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const answer = await fetch(address + path, { method, headers, signal, ...(body !== undefined && { body }) });
    const text = await answer.text();
    return {
      status: answer.status,
      body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  }

  /** Checks that read back writes. Each returns whether its write is present. */
  const checks: { kind: Kind; isThere(): Promise<boolean> }[] = [];

  const does: Record<Kind, () => Promise<number>> = {
    read: async () => (await send('GET', `${wiki}/pages/${next()}`)).status,
    search: async () => (await send('GET', `${wiki}/pages/search?query=setup%20network&limit=10`)).status,
    preview: async () =>
      (await send('POST', `${wiki}/preview`, JSON.stringify({ markdown: '# Hello\n\nSome *text*.\n' }))).status,
    async save() {
      const page_id = page_ids[turn++ % Math.min(20, page_ids.length)] ?? '';
      const base_revision = revisions.get(page_id) ?? (await send('GET', `${wiki}/pages/${page_id}`)).body.revision;
      const markdown = `# Saved\n\nText number ${turn}.\n`;
      const { status, body } = await send(
        'PATCH',
        `${wiki}/pages/${page_id}`,
        JSON.stringify({ markdown, base_revision }),
      );
      revisions.delete(page_id);
      if (status >= 400) return status;
      revisions.set(page_id, body.revision);
      const isThere = async () =>
        (await send('GET', `${wiki}/pages/${page_id}/revisions/${body.revision}`)).body.markdown === markdown;
      checks.push({ kind: 'save', isThere });
      return status;
    },
    async upload() {
      const form = new FormData();
      form.append('files', new Blob([`# Uploaded ${turn++}\n\nText of it.\n`]), `uploaded-${turn}.md`);
      const { status, body } = await send('POST', `${wiki}/uploads`, form);
      if (status >= 400) return status;
      const began = performance.now();
      for (;;) {
        const upload = await send('GET', `${wiki}/uploads/${body.upload_id}`);
        if (upload.status >= 400) return upload.status;
        if (upload.body.finished_at) return upload.body.status === 'completed' ? status : 500;
        if (performance.now() - began > GIVE_UP_MS) throw new Error('the upload did not end in time');
        await delay(20 * slower);
      }
    },
  };
  const next = () => page_ids[turn++ % page_ids.length] ?? '';

  return {
    async run(ms) {
      const round = Object.fromEntries(
        KINDS.map((kind) => [kind, { latencies_ms: [], refused: 0, lost: 0 }]),
      ) as unknown as Round;
      const end = performance.now() + ms;
      checks.length = 0;
      await Promise.all(
        KINDS.map(async (kind) => {
          const measured = round[kind];
          while (performance.now() < end) {
            const began = performance.now();
            try {
              const status = await does[kind]();
              measured.latencies_ms.push(performance.now() - began);
              if (status >= 400) measured.refused += 1;
            } catch {
              measured.latencies_ms.push(performance.now() - began);
              measured.lost += 1;
              await delay(200);
            }
            await delay(PAUSES_MS[kind] * slower);
          }
        }),
      );
      // Only the last writes: earlier ones were read back by later writes.
      await Promise.all(
        checks.slice(-20).map(async ({ kind, isThere }) => {
          if (!(await isThere().catch(() => false))) round[kind].lost += 1;
        }),
      );
      return round;
    },
  };
}
