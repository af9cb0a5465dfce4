import { ApiError, callApi, parseErrorBody } from '../call-api.ts';

/** Maximum bytes in one request; the service stores them durably as one part. */
const PART_BYTES = 8 * 2 ** 20;
/** Smallest part to try when a proxy refuses large requests. */
const SMALLEST_PART_BYTES = 64 * 2 ** 10;

/** Maximum bytes in one request of this page; reduced once a proxy has refused a larger request. */
let partBytes = PART_BYTES;

/** Delays between attempts without progress. */
const RETRY_DELAYS_MS = [300, 1_000, 3_000, 8_000];

const TUS_HEADERS = { accept: 'application/json', 'tus-resumable': '1.0.0' };

/**
 * Sends the missing bytes of a file by tus 1.0 (https://tus.io/protocols/resumable-upload). `address` is the API path
 * of the file; `from` is how many bytes have arrived, if known; `onSent` gets the total. Retries transient errors, and
 * sends smaller parts if a proxy refuses large ones. Throws ApiError, or an AbortError.
 */
export async function sendBytes(
  address: string,
  file: File,
  from: number | undefined,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let at = from;
  let part = file.slice(0, 0);
  for (let failures = 0; at === undefined || at < file.size; ) {
    try {
      at ??= (await callApi<{ received: number }>('GET', address, undefined, signal)).received;
      onSent(at);
      if (at >= file.size) return;
      part = file.slice(at, at + partBytes);
      const received = await sendPart(address, at, part, onSent, signal);
      // A proxy may answer without the header, or for another request. Without progress this loop would send the same
      // bytes forever.
      if (!(received > at)) throw new ApiError(0, {});
      at = received;
      failures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Reset the progress: the counted bytes of the failed request have not arrived.
      if (at !== undefined) onSent(at);
      if (isTooLargeForProxy(error) && part.size > SMALLEST_PART_BYTES) {
        // Concurrent uploads may have found a smaller limit.
        partBytes = Math.min(partBytes, Math.max(SMALLEST_PART_BYTES, Math.floor(part.size / 2)));
        at = undefined;
        continue;
      }
      if (error.status === 0) await assertReadable(file);
      const wait_ms = RETRY_DELAYS_MS[failures++];
      if (!isRetryable(error) || wait_ms === undefined) throw error;
      await delay(wait_ms, signal);
      // Some bytes may have arrived, so ask the service.
      at = undefined;
    }
  }
}

/**
 * Sends a part and returns how many bytes of the file have arrived. Uses XMLHttpRequest, because `fetch` reports no
 * upload progress.
 */
function sendPart(
  address: string,
  at: number,
  bytes: Blob,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => request.abort();
    signal.addEventListener('abort', abort);
    request.upload.onprogress = ({ loaded }) => onSent(at + Math.min(loaded, bytes.size));
    request.onabort = () => reject(new DOMException('The upload was paused.', 'AbortError'));
    request.onerror = () => reject(new ApiError(0, {}));
    request.onload = () => {
      if (request.status === 204) resolve(Number(request.getResponseHeader('upload-offset')));
      else reject(new ApiError(request.status, parseErrorBody(request.responseText)));
    };
    request.onloadend = () => signal.removeEventListener('abort', abort);
    request.open('PATCH', address);
    const headers = { ...TUS_HEADERS, 'upload-offset': String(at), 'content-type': 'application/offset+octet-stream' };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.send(bytes);
  });
}

/** Returns whether a proxy refused the size: the service has no limit for a part, and its own errors have a code. */
function isTooLargeForProxy({ status, code }: ApiError): boolean {
  return status === 413 && code === '';
}

/**
 * Returns whether to retry. A conflict is transient: the service may still be writing the bytes of a request that was
 * cut off.
 */
function isRetryable({ status, code }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500 || code === 'conflict';
}

/**
 * Throws ApiError if the file was changed or deleted after it was chosen, which browsers report as a failed connection.
 */
async function assertReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new ApiError(0, { message: `“${file.name}” was changed or deleted after you chose it. Choose it again.` });
  }
}

function delay(wait_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, wait_ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
