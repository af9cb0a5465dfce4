import { ApiError, callApi } from '../call-api.ts';
import type { PartsChange, WorkerAnswer, WorkerTask } from './ask-draft-worker.ts';
import { putDraft } from './stored-drafts.ts';

/**
 * Runs in a worker: stores and sends a long text so that the page stays responsive. The worker keeps the text as parts
 * and updates them with each task.
 */
let parts: string[] = [];

addEventListener('message', async ({ data, ports }: MessageEvent<WorkerTask & { change: PartsChange }>) => {
  const { kept, others, keptAtEnd } = data.change;
  parts = [...parts.slice(0, kept), ...others, ...parts.slice(parts.length - keptAtEnd)];
  ports[0]?.postMessage(await run(data, parts.join('')));
});

async function run(task: WorkerTask, markdown: string): Promise<WorkerAnswer> {
  if ('key' in task) return { isStored: await putDraft(task.key, { ...task.draft, markdown }) };
  try {
    await callApi(task.method, task.path, { ...task.body, markdown });
    return {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message, request_id } = error;
    return { refusal: { status, error: code, message, request_id } };
  }
}
