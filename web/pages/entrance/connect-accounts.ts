import { problemForForm } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import type { Visit, WebRoute } from '../../visit.ts';

/** Returns whether another account signs in by mail with the user's verified address. */
export async function hasOtherAccount({ api }: Visit): Promise<boolean> {
  return (await api.get<{ has_other_account: boolean }>('/v1/me/connection')).has_other_account;
}

/**
 * Offers to connect an account that the same person had before. The link sent by mail proves that it is the same
 * person.
 */
export async function otherAccountNote(visit: Visit, email: string): Promise<Content> {
  if (!(await hasOtherAccount(visit))) return false;
  return html`<div class="note"><p>Another account here signs in with links sent to <strong>${email}</strong>. If it is yours, connect the two accounts; both ways to sign in then lead to the same account. To confirm that it is yours, we send a link by e-mail. Open it in this browser.</p>
    <form method="post" action="/sign-in"><input type="hidden" name="email" value="${email}"><input type="hidden" name="next" value="/">
    <button class="button">Send link</button></form></div>`;
}

/** The choice on the page of a sign-in link if the session's user may connect the link's account. */
export function connectForm(token: string, email: string): Content {
  return html`<h1>Connect your accounts</h1>
    <p>You are signed in through your organization with the address <strong>${email}</strong>. Another account signs in with links sent to this address, and this link confirms that it is yours.</p>
    <form method="post" action="/sign-in/connect" class="stack"><input type="hidden" name="token" value="${token}">
      <button class="button main wide" autofocus>Connect both accounts</button></form>
    <p class="small">From then on, signing in through your organization with this address opens this account. If you did not request the link, close this page.</p>`;
}

export const connectAccounts: WebRoute = {
  method: 'POST',
  path: '/sign-in/connect',
  handle: async (visit) => {
    try {
      await visit.api.post('/v1/me/connection', { token: visit.form.get('token') ?? '' });
      return { redirect: '/' };
    } catch (error) {
      const problem = problemForForm(error);
      const main = html`<h1>Connect your accounts</h1>${problemNote(problem)}<p><a class="button" href="/">Go to your wikis</a></p>`;
      return { status: problem.status, page: renderAlone(visit, { title: 'Connect your accounts', main }) };
    }
  },
};
