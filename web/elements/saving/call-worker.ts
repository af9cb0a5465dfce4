import { ApiError, callApi } from '../call-api.ts';
import type { WorkerAnswer, WorkerCall } from './call-in-worker.ts';

/** Runs in a worker: calls the API for a page that has no time to write out a long request. */
addEventListener('message', async ({ data, ports }: MessageEvent<WorkerCall>) => {
  ports[0]?.postMessage(await call(data));
});

async function call({ method, path, body }: WorkerCall): Promise<WorkerAnswer> {
  try {
    await callApi(method, path, body);
    return {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message, request_id } = error;
    return { refusal: { status, error: code, message, request_id } };
  }
}
