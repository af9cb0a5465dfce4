import type { Problem } from '../api.ts';
import { html } from '../html.ts';
import { renderAlone } from '../layout.ts';
import type { Visit, WebResponse } from '../visit.ts';

const TITLES: Record<number, string> = {
  401: 'You are not signed in',
  403: 'You are not allowed to do this',
  404: 'Not found',
  409: 'This has changed in the meantime',
  413: 'This is too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

/** Instead of what the API tells programs. */
const WORDS: Record<number, string> = {
  401: 'Sign in, and this opens again.',
  403: 'Your role in this workspace does not allow it.',
};

const ADVICE: Record<number, string> = {
  403: 'Ask an owner or an admin of the workspace.',
  404: 'The address may be mistyped, the page may have been deleted, or you may not be a member there.',
  429: 'Wait a moment, then load the page again.',
  503: 'Load the page again in a moment. This browser has kept what you wrote in the editor.',
};

/** What went wrong, what to do, and the request's id for the operator. */
export function problemPage(visit: Visit, { status, message, request_id }: Problem): WebResponse & { page: unknown } {
  return {
    status,
    page: renderAlone(visit, {
      title: TITLES[status] ?? 'That did not work',
      main: html`<h1>${TITLES[status] ?? 'That did not work'}</h1>
        <p>${WORDS[status] ?? message}</p>
        <p>${ADVICE[status] ?? 'Go back and try again.'}</p>
        <p><a class="button" href="/">To your wikis</a></p>
        <p class="small">Request <code>${request_id}</code></p>`,
    }),
  };
}
