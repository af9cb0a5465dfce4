import type { ServerResponse } from 'node:http';
import { ApiError } from '../../core/errors.ts';

/**
 * Returns how to learn that the client went away before it was answered. The signal is made when it is first asked for:
 * most requests end sooner than anything could be stopped.
 */
export function abandonment(response: ServerResponse): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (controller) return controller.signal;
    const made = new AbortController();
    controller = made;
    const abandon = () => {
      if (!response.writableFinished)
        made.abort(new ApiError('request_timeout', 'The client went away before it was answered.'));
    };
    if (response.destroyed) abandon();
    else response.once('close', abandon);
    return made.signal;
  };
}
