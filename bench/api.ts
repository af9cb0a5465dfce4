import { setTimeout as delay } from 'node:timers/promises';

/**
 * The API with a credential. Throws an error for any answer but success: a benchmark needs every request to succeed.
 */
export interface Api {
  address: string;
  token: string;
  // Answers have any shape.
  get(path: string): Promise<any>;
  /** Reads a page of a list. `next` is the address of the next page; undefined on the last one. */
  page(path: string): Promise<{ records: any[]; next: string | undefined }>;
  /** Sends a form as multipart, and any other body as JSON. */
  post(path: string, body?: unknown): Promise<any>;
  /**
   * Uploads the files, calls `onAnswered` when they are accepted, and waits for the end of the job. `seconds`: the time
   * from the answer to that end.
   */
  upload(
    wiki_id: string,
    files: Record<string, string | Uint8Array>,
    onAnswered?: () => void,
  ): Promise<{ upload: any; receive_seconds: number; seconds: number }>;
}

export function openApi(address: string, token: string): Api {
  async function request(method: string, path: string, body?: FormData | string, type?: string) {
    const headers = { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) };
    const answer = await fetch(address + path, { method, headers, ...(body !== undefined && { body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
    return { body: JSON.parse(text), headers: answer.headers };
  }
  const send = async (...given: Parameters<typeof request>): Promise<any> => (await request(...given)).body;
  const get = (path: string) => send('GET', path);
  return {
    address,
    token,
    get,
    async page(path) {
      const { body, headers } = await request('GET', path);
      return { records: body, next: /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] };
    },
    post: (path, body) =>
      body === undefined || body instanceof FormData
        ? send('POST', path, body)
        : send('POST', path, JSON.stringify(body), 'application/json'),
    async upload(wiki_id, files, onAnswered) {
      const form = new FormData();
      for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text as string]), name);
      const begin = performance.now();
      const { upload_id } = await send('POST', `/v1/wikis/${wiki_id}/uploads`, form);
      const answered = performance.now();
      onAnswered?.();
      for (;;) {
        const upload = await get(`/v1/wikis/${wiki_id}/uploads/${upload_id}`);
        if (upload.status === 'failed') throw new Error(`an upload failed: ${upload.error}`);
        if (upload.finished_at) {
          const seconds = (performance.now() - answered) / 1000;
          return { upload, receive_seconds: (answered - begin) / 1000, seconds };
        }
        // Times are exact to a fiftieth, and the pauses stay below the rate limits.
        await delay(Math.max(25, (performance.now() - answered) / 50));
      }
    },
  };
}

export async function listAll(api: Api, path: string): Promise<any[]> {
  const all: any[] = [];
  for (let next: string | undefined = `${path}?limit=500`; next !== undefined; ) {
    const page = await api.page(next);
    all.push(...page.records);
    next = page.next;
  }
  return all;
}
