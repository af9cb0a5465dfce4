import { addressOf, type Outgoing } from './outgoing.ts';
import { sendBytes } from './tus.ts';

/** Small files wait for each other's answers; browsers open six connections to a service at most. */
const AT_ONCE = 3;

/**
 * Sends what is missing of the files that are at hand, a few at once; `onSent` is called as bytes go. The first failure
 * ends all. Errors: Refused; an AbortError.
 */
export async function sendFiles(outgoing: Outgoing, onSent: () => void, signal: AbortSignal): Promise<void> {
  const waiting = outgoing.files.filter(({ file, sent, size }) => file && sent < size);
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const lane = async () => {
    for (let next = waiting.shift(); next?.file; next = waiting.shift()) {
      const sending = next;
      const address = `${addressOf(outgoing)}/files/${next.file_id}`;
      const onBytes = (bytes: number) => {
        sending.sent = bytes;
        onSent();
      };
      // Where some of it went before, the service knows best how much came.
      await sendBytes(address, next.file, next.sent === 0 ? 0 : undefined, onBytes, either);
    }
  };
  const lanes = Array.from({ length: AT_ONCE }, () => lane().catch((error) => failed.abort(error)));
  await Promise.all(lanes);
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}
