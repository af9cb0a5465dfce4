import { ApiError, callApi } from '../call-api.ts';

export interface WorkerCall {
  method: string;
  path: string;
  body: object;
}

export interface WorkerAnswer {
  refusal?: { status: number; error: string; message: string; request_id: string };
}

let worker: Worker | undefined;

/**
 * Calls the API in a worker: a browser takes 20 ms to send a megabyte of text, in which no key is answered, and 3 ms to pass it on.
 * Where there is no worker, as after an update of the service, it calls here. Errors: ApiError.
 */
export function callInWorker(method: string, path: string, body: object): Promise<void> {
  worker ??= new Worker(new URL('call-worker.js', import.meta.url), { type: 'module' });
  const { port1, port2 } = new MessageChannel();
  const called = worker;
  return new Promise((resolve, reject) => {
    const failed = () => {
      worker = undefined;
      resolve(callApi(method, path, body));
    };
    called.addEventListener('error', failed, { once: true });
    port1.onmessage = ({ data: { refusal } }: MessageEvent<WorkerAnswer>) => {
      called.removeEventListener('error', failed);
      if (refusal) reject(new ApiError(refusal.status, refusal));
      else resolve();
    };
    called.postMessage({ method, path, body } satisfies WorkerCall, [port2]);
  });
}
