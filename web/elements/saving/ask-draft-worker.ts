import { ApiError, callApi } from '../call-api.ts';
import type { Draft } from './stored-drafts.ts';

/** A draft without its text, which the worker has. */
export type DraftFields = Omit<Draft, 'markdown'>;

/** A request, or a draft that is to be stored; both are completed with the text. */
export type WorkerTask = { method: string; path: string; body: object } | { key: string; draft: DraftFields };

/** What of the parts of the text is new since the task before: those between the first and the last that are kept. */
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
 * Calls the API with a long text, as the field `markdown`. A browser takes 20 ms to send a megabyte, in which no key is answered.
 * `parts`: those of the text. Where there is no worker, as after an update of the service, it calls here. Errors: ApiError.
 */
export async function callWithText(method: string, path: string, body: object, parts: readonly string[]) {
  const answer = await ask({ method, path, body }, parts);
  if (!answer) await callApi(method, path, { ...body, markdown: parts.join('') });
  else if (answer.refusal) throw new ApiError(answer.refusal.status, answer.refusal);
}

/** Stores a draft with a long text in IndexedDB. Whether it was stored; undefined where there is no worker. */
export async function storeWithText(key: string, draft: DraftFields, parts: readonly string[]) {
  return (await ask({ key, draft }, parts))?.isStored;
}

/**
 * What the worker answers; undefined where it cannot be loaded, or has ended. A copy of a megabyte would take 3 ms to pass on, and 12 to
 * store: it has the text, and is told the parts that have changed.
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

/** Parts that have not changed are the same strings, which browsers compare by their addresses. */
function diffParts(before: readonly string[], now: readonly string[]): PartsChange {
  const most = Math.min(before.length, now.length);
  let kept = 0;
  while (kept < most && before[kept] === now[kept]) kept += 1;
  let keptAtEnd = 0;
  while (keptAtEnd < most - kept && before.at(-1 - keptAtEnd) === now.at(-1 - keptAtEnd)) keptAtEnd += 1;
  return { kept, others: now.slice(kept, now.length - keptAtEnd), keptAtEnd };
}
