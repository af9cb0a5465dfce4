import { otherAddress } from '../../../src/platform/access/before-sign-in.ts';
import { type Html, html } from '../../html.ts';
import type { Visit } from '../../visit.ts';

/**
 * Tells the operator which setting to change if the browser comes from another machine and the service is configured
 * for this machine only. All forms would be refused. Returns undefined otherwise.
 */
export function otherAddressNote({ request, publicUrl }: Visit): Html | undefined {
  const came = otherAddress(request.raw, publicUrl);
  if (came === undefined) return undefined;
  return html`<div class="note bad" role="alert">
    <p>This service is set up for <strong>${publicUrl}</strong>, and you came by <strong>${came}</strong>. Forms sent from this address are refused.</p>
    <p>Start the service with <code>PUBLIC_URL=${came}</code>, then load this page again.</p></div>`;
}
