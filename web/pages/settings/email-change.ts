import { Problem } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { problemNote, renderAlone } from '../../layout.ts';
import type { Visit, WebRoute } from '../../visit.ts';

const PATH = '/email-change';

const shown = (visit: Visit, main: Content) => renderAlone(visit, { title: 'Change e-mail address', main });

/** A button sends the secret of a link, so that mail scanners, which open links, do not confirm anything. */
export const emailChange: WebRoute = {
  method: 'GET',
  path: PATH,
  handle: async (visit) => ({
    page: shown(
      visit,
      html`<h1>Change e-mail address</h1><p>The address of your account changes once both links are confirmed: one was sent to the old address, the other to the new one.</p>
      <form method="post" action="${PATH}" class="stack"><input type="hidden" name="token" value="${visit.query.get('token') ?? ''}">
        <button class="button main wide" autofocus>Confirm</button></form>`,
    ),
  }),
};

export const confirmEmailChange: WebRoute = {
  method: 'POST',
  path: PATH,
  handle: async (visit) => {
    try {
      const token = visit.form.get('token') ?? '';
      const { email, changed } = await visit.api.post<{ email: string; changed: boolean }>('/v1/auth/email-change', {
        token,
      });
      const said = changed
        ? html`<h1>Address changed</h1><p>The account now has the address <strong>${email}</strong>. Use it to sign in.</p>`
        : html`<h1>Confirmed</h1><p>Now open the link in the other e-mail. Then the address changes to <strong>${email}</strong>.</p>`;
      return { page: shown(visit, html`${said}<p><a class="button" href="/me">Go to your profile</a></p>`) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const main = html`<h1>Change e-mail address</h1>${problemNote(error)}
        <p>You can request new links in <a href="/me">your profile</a>.</p>`;
      return { status: error.status, page: shown(visit, main) };
    }
  },
};
