import { NOT_ALLOWED } from '../../src/platform/core/errors.ts';
import type { Problem } from '../api.ts';
import { html } from '../html.ts';
import { renderAlone } from '../layout.ts';
import type { Visit, WebResponse } from '../visit.ts';

const TITLES: Record<number, string> = {
  401: 'You are not signed in',
  403: 'Request refused',
  404: 'Not found',
  409: 'Changed in the meantime',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

const ADVICE: Record<number, string> = {
  404: 'The address may be mistyped, the page may have been deleted, or you may not have access.',
  429: 'Wait a moment, then reload the page.',
  503: 'Reload the page in a moment. Your text in the editor is stored in this browser.',
};

/**
 * Returns the text of an error page. Messages that already say what to do get no advice, and the sentence about roles
 * appears only if the role decided.
 */
function textOf({ status, message }: Problem): { title: string; words: string; advice: string } {
  const title = TITLES[status] ?? 'Something went wrong';
  if (status === 401) return { title, words: 'Sign in to continue.', advice: '' };
  if (status === 403 && message === NOT_ALLOWED) {
    return {
      title: 'You are not allowed to do this',
      words: 'Your role in this workspace does not allow it.',
      advice: 'Ask an owner or an admin of the workspace.',
    };
  }
  const isOwnSentence = status === 403 || (status === 404 && !message.startsWith('There is no such '));
  return { title, words: message, advice: isOwnSentence ? '' : (ADVICE[status] ?? 'Go back and try again.') };
}

/** Shows the error, the remedy, and the request's id for the operator. */
export function problemPage(visit: Visit, problem: Problem): WebResponse & { page: unknown } {
  const { status, request_id } = problem;
  const { title, words, advice } = textOf(problem);
  return {
    status,
    page: renderAlone(visit, {
      title,
      main: html`<h1>${title}</h1>
        <p>${words}</p>
        ${advice !== '' && html`<p>${advice}</p>`}
        <p><a class="button" href="/">Go to your wikis</a></p>
        <p class="small">Request <code>${request_id}</code></p>`,
    }),
  };
}
