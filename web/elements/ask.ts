/** What the API answered that is no success. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;

  constructor(status: number, body: { error?: string; message?: string; request_id?: string }) {
    super(body.message ?? 'The service cannot be reached. Look at your connection and try again.');
    this.status = status;
    this.code = body.error ?? '';
    this.request_id = body.request_id ?? '';
  }
}

/** Asks the API as the one who is signed in in this browser. Errors: Refused, with status 0 where nothing answered. */
export async function ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const isForm = body instanceof FormData;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: { accept: 'application/json', ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (cause) {
    if ((cause as Error).name === 'AbortError') throw cause;
    throw new Refused(0, {});
  }
  const text = await response.text();
  const answer = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw new Refused(response.status, answer ?? {});
  return answer as T;
}
