import { Problem, problemForForm } from './api.ts';
import { readFormWithFile } from './form-file.ts';
import { type Content, type Html, html } from './html.ts';
import { icon } from './icons.ts';
import type { Visit, WebResponse, WebRoute } from './visit.ts';

const ADVICE: Record<string, string> = {
  forbidden: 'Ask an owner or an admin of the workspace.',
  role_not_grantable: 'Ask an owner to do this.',
  already_member: 'They are in the list of members below.',
  member_inactive: 'Reactivate them in the list of members below.',
  invitation_pending: 'You can send it again from the list below.',
  email_unavailable: 'Nothing was changed. Try again in a few minutes.',
  not_found: 'It may have changed in the meantime. This page shows the current state.',
  recent_sign_in_required: 'Sign in again, then retry.',
  legal_hold: 'For the reason, see “Retention” in the settings.',
  conflict: 'It may have changed in the meantime. This page shows the current state.',
  preview_changed: 'Nothing was charged. Check the new preview.',
  payment_declined: 'Change the payment method under “Payment methods and invoices”.',
  payment_required: 'Someone who manages billing can pay under “Plan” in the settings.',
  rate_limited: 'Wait a while, then try again.',
};

/** Shows why a form was refused, the remedy, and the request's id. */
function problemWithAdvice({ message, code, request_id }: Problem): Html {
  return html`<div class="note bad" role="alert"><p>${message}</p>${ADVICE[code] !== undefined && html`<p>${ADVICE[code]}</p>`}
    <p class="small">Request <code>${request_id}</code></p></div>`;
}

/** Renders a form with a single button and hidden fields. */
export function actionButton(action: string, fields: Record<string, string>, label: Content, kind = ''): Html {
  return html`<form method="post">${hiddenFields({ do: action, ...fields })}<button class="button ${kind}">${label}</button></form>`;
}

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** Hides a dangerous button and its explanation in a fold, so that it is not pressed by mistake. */
export function disclosure(name: Content, what: Content, button: Content): Html {
  return html`<details class="guarded"><summary>${name}</summary><div><p>${what}</p>${button}</div></details>`;
}

/**
 * The action of a form. Returns the key of a flash message, or its own response. Throws Problem, which is shown above
 * the page.
 */
type Action<Context> = (visit: Visit, context: Context) => Promise<string | WebResponse>;

export interface FormPage<Context> {
  path: string;
  /** Messages to show after an action, by the key that the action returned. */
  flashMessages: Record<string, string>;
  actions: Record<string, Action<Context>>;
  main(visit: Visit, context: Context): Promise<Content>;
}

/** The context and surroundings of a kind of pages. */
interface Frame<Context> {
  /** Throws Problem if the user may not see the page. */
  load(visit: Visit): Promise<Context>;
  render(visit: Visit, context: Context, main: Content): Html;
}

/** Creates the routes of a page whose forms lead back to it. The field `do` of a form names the action. */
export function formPage<Context>(
  page: FormPage<Context>,
  { load, render }: Frame<Context>,
): [read: WebRoute, write: WebRoute] {
  const shown = async (visit: Visit, context: Context, note: Content, status = 200): Promise<WebResponse> => ({
    status,
    page: render(visit, context, html`${note}${await page.main(visit, context)}`),
  });
  const read = async (visit: Visit): Promise<WebResponse> => {
    const message = ownEntry(page.flashMessages, visit.query.get('flash'));
    const note = message !== undefined && html`<div class="note good" role="status"><p>${message}</p></div>`;
    return shown(visit, await load(visit), note);
  };
  const write = async (posted: Visit): Promise<WebResponse> => {
    const context = await load(posted);
    const hasFile = posted.request.headers['content-type']?.startsWith('multipart/') === true;
    const visit = hasFile ? { ...posted, ...(await readFormWithFile(posted.request)) } : posted;
    const action = ownEntry(page.actions, visit.form.get('do'));
    if (!action) throw new Problem(400, { message: 'The form is incomplete.', request_id: visit.request.id });
    try {
      const result = await action(visit, context);
      return typeof result === 'string' ? { redirect: `${visit.path}?flash=${result}` } : result;
    } catch (error) {
      const problem = problemForForm(error);
      return shown(visit, context, problemWithAdvice(problem), problem.status);
    }
  };
  return [
    { method: 'GET', path: page.path, handle: read },
    { method: 'POST', path: page.path, handle: write },
  ];
}

/** Returns an own property only: names come from requests, and every object inherits `constructor`. */
function ownEntry<T>(entries: Record<string, T>, name: string | null): T | undefined {
  return name !== null && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/**
 * Renders the links of the settings next to the text. In a narrow window they fold into a row above it, so that the
 * text comes first.
 */
export function sectionLinks(name: string, lists: Content): Html {
  return html`<nav class="sections" aria-label="${name}"><details class="sections-fold"><summary>${icon('menu')} ${name}</summary>${lists}</details></nav>`;
}
