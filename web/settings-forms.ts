import type { Problem } from './api.ts';
import { type Content, type Html, html } from './html.ts';

const ADVICE: Record<string, string> = {
  forbidden: 'Ask an owner or an admin of the workspace.',
  role_not_grantable: 'Ask an owner to do it.',
  already_member: 'Look for them in the list of members below.',
  member_inactive: 'Reactivate them in the list of members below.',
  invitation_pending: 'You can send it again from the list below.',
  email_unavailable: 'Nothing was changed. Try again in a few minutes.',
  not_found: 'It may have been changed in the meantime: this page shows the current state.',
  conflict: 'It may have been changed in the meantime: this page shows the current state.',
  preview_changed: 'Nothing was charged: look at the new preview.',
  payment_declined: 'The payment method is changed at “Payment methods and invoices”.',
  payment_required: 'Who manages the billing pays it on the page “Plan” of the settings.',
  rate_limited: 'Wait a while, then send it again.',
};

/** Why a form was refused, what to do about it, and the request's id. */
export function problemWithAdvice({ message, code, request_id }: Problem): Html {
  return html`<div class="note bad" role="alert"><p>${message}</p>${ADVICE[code] !== undefined && html`<p>${ADVICE[code]}</p>`}
    <p class="small">Request <code>${request_id}</code></p></div>`;
}

/** A form of one button and hidden fields. */
export function actionButton(action: string, fields: Record<string, string>, label: Content, kind = ''): Html {
  return html`<form method="post">${hiddenFields({ do: action, ...fields })}<button class="button ${kind}">${label}</button></form>`;
}

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** Folds a dangerous button away, with an explanation beside it, so that it is not pressed by mistake. */
export function disclosure(name: Content, what: Content, button: Content): Html {
  return html`<details class="guarded"><summary>${name}</summary><div><p>${what}</p>${button}</div></details>`;
}
