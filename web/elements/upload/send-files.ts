import { type PendingUpload, uploadUrl } from './pending-upload.ts';
import { sendBytes } from './tus.ts';

/**
 * Sending files concurrently hides the latency of small files. Browsers open at most six connections to a host over
 * HTTP/1.1.
 */
const CONCURRENT_FILES = 3;

/**
 * Sends the missing bytes of the attached files, several files at a time; `onSent` is called as bytes are sent. The
 * first failure aborts all. Throws ApiError, or an AbortError.
 */
export async function sendFiles(upload: PendingUpload, onSent: () => void, signal: AbortSignal): Promise<void> {
  const queue = upload.files.filter(({ file, sent, size }) => file && sent < size);
  const failed = new AbortController();
  const anySignal = AbortSignal.any([signal, failed.signal]);
  const lane = async () => {
    for (let next = queue.shift(); next?.file; next = queue.shift()) {
      const sending = next;
      const address = `${uploadUrl(upload)}/files/${next.file_id}`;
      const onBytes = (bytes: number) => {
        sending.sent = bytes;
        onSent();
      };
      // If part of the file was sent before, ask the service how much has arrived.
      await sendBytes(address, next.file, next.sent === 0 ? 0 : undefined, onBytes, anySignal);
    }
  };
  const lanes = Array.from({ length: CONCURRENT_FILES }, () => lane().catch((error) => failed.abort(error)));
  await Promise.all(lanes);
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}
