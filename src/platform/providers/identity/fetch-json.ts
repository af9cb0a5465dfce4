const SIZE_LIMIT = 1024 * 1024;
const REDIRECTS_MAX = 3;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Fetches a JSON document of at most 1 MiB (decoded) from a service that the operator configured. Follows redirects
 * only within the same origin. `signal` limits the whole exchange. Throws an Error that names the address.
 */
export async function fetchJson(fetcher: typeof fetch, address: URL, signal: AbortSignal): Promise<unknown> {
  let url = address;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetcher(url.href, { redirect: 'manual', signal, headers: { accept: 'application/json' } });
    if (response.status === 200) return JSON.parse(await readText(response, url));
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      throw new Error(`${url} answered ${response.status}`);
    }
    const next = URL.parse(location, url.href);
    if (next?.origin !== url.origin) throw new Error(`${url} redirects to another host, which is not allowed`);
    url = next;
  }
  throw new Error(`${address} redirects more than ${REDIRECTS_MAX} times`);
}

async function readText(response: Response, url: URL): Promise<string> {
  return new TextDecoder('utf-8', { fatal: true }).decode(await readAtMost(response, url.href));
}

/** Reads the decoded body of a response. Throws an Error if it is larger than 1 MiB. */
export async function readAtMost(response: Response, address: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > SIZE_LIMIT) throw new Error(`${address} sent more than ${SIZE_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
