import { createHash, randomUUID } from 'node:crypto';
import type { Answer, Owner } from './world.ts';

/** A sent upload; its unique folder identifies it if no answer came. */
export interface SentUpload {
  wiki_id: string;
  folder: string;
  /** SHA-256 by file name. */
  files: Map<string, string>;
  /** Set when the answer came. */
  upload_id?: string;
}

/** Acknowledged writes, recorded when the answer came. None of them may be lost. */
export interface Ledger {
  /** Workspace ids by name. Each is requested with an Idempotency-Key until there is an answer. */
  workspaces: Map<string, string>;
  invitations: string[];
  /** Titles by wiki, in the order of their acknowledgement. */
  renames: Map<string, string[]>;
  uploads: SentUpload[];
  acknowledged: number;
  /** Number of 503 answers with an error body and Retry-After. */
  unavailable: number;
  /** Number of requests whose connection ended with the service: their result is unknown. */
  unanswered: number;
  /** Answers that clients must not get. */
  wrong: string[];
}

export interface Writers {
  ledger: Ledger;
  /** Sets whether the service is expected to be up: connections may only break while it is down. */
  serviceIsUp(up: boolean): void;
  /** Stops writing and waits for the requests in progress. */
  stop(): Promise<void>;
}

/** Starts a writer for each owner, which writes without a pause and continues after failures. */
export function startWriters(owners: readonly Owner[]): Writers {
  const ledger: Ledger = {
    workspaces: new Map(),
    invitations: [],
    renames: new Map(owners.map((owner) => [owner.wiki_id, []])),
    uploads: [],
    acknowledged: 0,
    unavailable: 0,
    unanswered: 0,
    wrong: [],
  };
  let up = true;
  let downs = 0;
  let stopped = false;

  async function ask(what: string, request: () => Promise<Answer>): Promise<Answer | undefined> {
    const began = { up, downs };
    let answer: Answer;
    try {
      answer = await request();
    } catch (error) {
      if (began.up && up && began.downs === downs)
        ledger.wrong.push(`${what}: ${String((error as Error).cause ?? error)}`);
      ledger.unanswered += 1;
      return undefined;
    }
    if (answer.status < 300) return answer;
    const { error, message, request_id } = answer.body ?? {};
    const isEnvelope = error && message && request_id && Object.keys(answer.body).length === 3;
    // A connection of the killed service may still be writing.
    if (error === 'idempotency_in_progress') return undefined;
    if (answer.status === 503 && isEnvelope && answer.headers.has('retry-after')) ledger.unavailable += 1;
    else ledger.wrong.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  }

  /** Sends a write, and records its answer with `note`. Returns whether there was an answer. */
  async function write(what: string, request: () => Promise<Answer>, note: (answer: Answer) => void): Promise<boolean> {
    const answer = await ask(what, request);
    if (answer) {
      ledger.acknowledged += 1;
      note(answer);
    } else await new Promise((resolve) => setTimeout(resolve, 20));
    return answer !== undefined;
  }

  async function upload(owner: Owner): Promise<void> {
    const { wiki_id } = owner;
    const folder = randomUUID();
    const contents = {
      [`${folder}/a.md`]: `# A ${folder}\n\nSee [b](b.txt) and [the log](../log.md).\n`,
      [`${folder}/b.txt`]: `Text of ${folder}`,
      'log.md': `# Log\n\nLast written by ${folder}.\n`,
      'same.md': '# Same\n\nAlways the same bytes.\n',
    };
    const form = new FormData();
    const sent: SentUpload = { wiki_id, folder, files: new Map() };
    for (const [name, content] of Object.entries(contents)) {
      form.append('files', new Blob([content]), name);
      sent.files.set(name, createHash('sha256').update(content).digest('hex'));
    }
    ledger.uploads.push(sent);
    await write(
      'upload',
      () => owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form }),
      ({ body }) => {
        sent.upload_id = body.upload_id;
      },
    );
    if (sent.upload_id) await ask('look', () => owner.get(`/v1/wikis/${wiki_id}/uploads/${sent.upload_id}`));
  }

  function rename(owner: Owner): Promise<boolean> {
    const title = `Title ${randomUUID()}`;
    return write(
      'rename',
      () => owner.patch(`/v1/wikis/${owner.wiki_id}`, { title }),
      () => ledger.renames.get(owner.wiki_id)?.push(title),
    );
  }

  function invite(owner: Owner): Promise<boolean> {
    const email = `${randomUUID()}@example.com`;
    return write(
      'invite',
      () => owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email, role: 'member' }),
      ({ body }) => ledger.invitations.push(body.invitation_id),
    );
  }

  async function createWorkspace(owner: Owner): Promise<void> {
    const name = `Made ${randomUUID()}`;
    const headers = { 'idempotency-key': randomUUID() };
    const create = () =>
      write(
        'create a workspace',
        () => owner.post('/v1/workspaces', { name }, headers),
        ({ body }) => ledger.workspaces.set(name, body.workspace_id),
      );
    while (!(await create())) if (stopped) return;
  }

  async function work(owner: Owner): Promise<void> {
    while (!stopped) {
      for (const step of [upload, rename, invite, createWorkspace, rename, invite]) {
        if (!stopped) await step(owner);
      }
    }
  }

  const done = Promise.all(owners.map(work));
  return {
    ledger,
    serviceIsUp(now) {
      if (up && !now) downs += 1;
      up = now;
    },
    async stop() {
      stopped = true;
      await done;
    },
  };
}
