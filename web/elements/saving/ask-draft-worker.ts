import { ApiError, callApi } from '../call-api.ts';
import type { Draft } from './stored-drafts.ts';

/** A draft without its text, which the worker already has. */
export type DraftFields = Omit<Draft, 'markdown'>;

/** A request to send or a draft to store. The worker adds the text. */
export type WorkerTask = { method: string; path: string; body: object } | { key: string; draft: DraftFields };

/**
 * The change of the text since the previous task: the first `kept` and the last `keptAtEnd` parts are the same, and
 * `others` replaces the parts between them.
 */
export interface PartsChange {
  kept: number;
  others: string[];
  keptAtEnd: number;
}

export interface WorkerAnswer {
  isStored?: boolean;
  refusal?: { status: number; error: string; message: string; request_id: string };
}

let worker: Worker | undefined;
/** The parts of the text that the worker has. */
let sent: readonly string[] = [];

/**
 * Calls the API with a long text as the field `markdown`. A browser needs 20 ms to send a megabyte, and answers no key
 * during that time, so the call runs in the worker. Without a worker, as after an update of the service, the call runs
 * here. `parts`: the parts of the text. Throws ApiError.
 */
export async function callWithText(method: string, path: string, body: object, parts: readonly string[]) {
  const answer = await ask({ method, path, body }, parts);
  if (!answer) await callApi(method, path, { ...body, markdown: parts.join('') });
  else if (answer.refusal) throw new ApiError(answer.refusal.status, answer.refusal);
}

/** Stores a draft with a long text in IndexedDB. Returns whether it was stored, or undefined without a worker. */
export async function storeWithText(key: string, draft: DraftFields, parts: readonly string[]) {
  return (await ask({ key, draft }, parts))?.isStored;
}

/**
 * Sends a task to the worker. Returns undefined if the worker cannot be loaded or has ended. Copying a megabyte takes 3
 * ms, and cloning it for storage 12 ms, so the worker keeps the text and receives only the changed parts.
 */
function ask(task: WorkerTask, parts: readonly string[]): Promise<WorkerAnswer | undefined> {
  worker ??= new Worker(new URL('draft-worker.js', import.meta.url), { type: 'module' });
  const { port1, port2 } = new MessageChannel();
  const asked = worker;
  return new Promise((resolve) => {
    const failed = () => {
      if (worker === asked) [worker, sent] = [undefined, []];
      resolve(undefined);
    };
    asked.addEventListener('error', failed, { once: true });
    port1.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => {
      asked.removeEventListener('error', failed);
      resolve(data);
    };
    asked.postMessage({ ...task, change: diffParts(sent, parts) }, [port2]);
    sent = parts;
  });
}

/** Unchanged parts are the same strings, which browsers compare by address. */
function diffParts(before: readonly string[], now: readonly string[]): PartsChange {
  const most = Math.min(before.length, now.length);
  let kept = 0;
  while (kept < most && before[kept] === now[kept]) kept += 1;
  let keptAtEnd = 0;
  while (keptAtEnd < most - kept && before.at(-1 - keptAtEnd) === now.at(-1 - keptAtEnd)) keptAtEnd += 1;
  return { kept, others: now.slice(kept, now.length - keptAtEnd), keptAtEnd };
}
