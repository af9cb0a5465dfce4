import { type PendingUpload, uploadUrl } from './pending-upload.ts';
import { sendBytes } from './tus.ts';

/** Small files wait for each other's answers; browsers open six connections to a service at most. */
const CONCURRENT_FILES = 3;

/**
 * Sends what is missing of the files that are at hand, a few at once; `onSent` is called as bytes go. The first failure
 * ends all. Errors: Refused; an AbortError.
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
      // Where some of it went before, the service knows best how much came.
      await sendBytes(address, next.file, next.sent === 0 ? 0 : undefined, onBytes, anySignal);
    }
  };
  const lanes = Array.from({ length: CONCURRENT_FILES }, () => lane().catch((error) => failed.abort(error)));
  await Promise.all(lanes);
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}
