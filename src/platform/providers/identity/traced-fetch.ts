import { traced } from '../../core/tracing.ts';

/** `fetch` in its own tracing span; sends `traceparent`, so that the other service can continue the trace. */
export const tracedFetch: typeof fetch = (input, init) =>
  traced('fetch', 'client', { 'server.address': hostOf(input) }, async (span) => {
    const headers = new Headers(init?.headers);
    if (span) headers.set('traceparent', span.traceparent);
    const response = await fetch(input, { ...init, headers });
    span?.set({ 'http.response.status_code': response.status });
    return response;
  });

function hostOf(input: string | URL | Request): string {
  return new URL(input instanceof Request ? input.url : input).host;
}
