import { ApiError, callApi, parseErrorBody } from '../call-api.ts';

/** Bytes in one request, at most; the service stores them durably as one part. */
const PART_BYTES = 8 * 2 ** 20;
/** No smaller request is tried where something in front of the service refuses large ones. */
const SMALLEST_PART_BYTES = 64 * 2 ** 10;

/** Bytes in one request of this page: fewer once a request of more was refused in front of the service. */
let partBytes = PART_BYTES;

/** Delays between attempts without progress. */
const RETRY_DELAYS_MS = [300, 1_000, 3_000, 8_000];

const TUS_HEADERS = { accept: 'application/json', 'tus-resumable': '1.0.0' };

/**
 * Sends the missing bytes of a file by tus 1.0 (https://tus.io/protocols/resumable-upload). `address` is the API path of
 * the file; `from` is how many bytes have arrived, if known; `onSent` gets the total. Retries transient errors, and sends
 * smaller parts where a proxy refuses large ones.
 * Errors: ApiError; an AbortError.
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
      // A proxy may answer without the header, or for another request: what was sent would be sent again for ever.
      if (!(received > at)) throw new ApiError(0, {});
      at = received;
      failures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // What was counted as it was sent has not arrived.
      if (at !== undefined) onSent(at);
      if (isTooLargeForProxy(error) && part.size > SMALLEST_PART_BYTES) {
        // Files that are sent beside this one may have learnt of a smaller limit.
        partBytes = Math.min(partBytes, Math.max(SMALLEST_PART_BYTES, Math.floor(part.size / 2)));
        at = undefined;
        continue;
      }
      if (error.status === 0) await assertReadable(file);
      const wait_ms = RETRY_DELAYS_MS[failures++];
      if (!isRetryable(error) || wait_ms === undefined) throw error;
      await delay(wait_ms, signal);
      // Some bytes may have arrived: asks the service.
      at = undefined;
    }
  }
}

/** Returns how many bytes of the file have arrived. By XMLHttpRequest, since `fetch` reports no upload progress. */
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

/** The service has no limit for a part; what it refuses has a code. */
function isTooLargeForProxy({ status, code }: ApiError): boolean {
  return status === 413 && code === '';
}

/** A conflict is transient: the service may still be writing the bytes of a request that was cut off. */
function isRetryable({ status, code }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500 || code === 'conflict';
}

/** Browsers report a file that was changed or deleted after it was chosen as a failed connection. */
async function assertReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new ApiError(0, { message: `“${file.name}” has changed or is gone since it was chosen. Choose it again.` });
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
