import { escapeHtml } from '../../platform/core/escape-html.ts';
import type { Message } from '../../platform/providers/mail/mail.ts';
import { plainName } from '../../platform/providers/mail/plain-name.ts';
import { formatMoney } from '../../platform/providers/payments/money.ts';

export interface BillingLetter {
  email: string;
  step: string;
  workspace_name: string;
  slug: string;
  /** In minor units. */
  amount_due: number;
  currency: string;
  writes_end_at: string | null;
}

/** Writes the email about a payment event, with a link to the billing page. */
export function billingMail(publicUrl: string, letter: BillingLetter): Message {
  const name = `"${plainName(letter.workspace_name, 'your workspace')}"`;
  const amount =
    letter.currency === '' ? 'An invoice' : `An invoice of ${formatMoney(letter.amount_due, letter.currency)}`;
  const until = letter.writes_end_at?.slice(0, 10) ?? '';
  const [subject, text] = {
    payment_failed: [
      `A payment for ${name} failed`,
      `${amount} for the workspace ${name} could not be paid. Everything works until ${until}; then the workspace is read-only until it is paid.`,
    ],
    grace_ending: [
      `${name} becomes read-only on ${until}`,
      `${amount} for the workspace ${name} is still unpaid. From ${until} on the workspace is read-only: it can be read and exported, and nothing is deleted.`,
    ],
    read_only: [
      `${name} is read-only now`,
      `${amount} for the workspace ${name} was not paid. It can be read and exported, and nothing is deleted. Writing goes on as soon as it is paid.`,
    ],
    paid: [`${name} is paid`, `Thank you: everything is paid, and everything in the workspace ${name} works.`],
    ended: [
      `The subscription of ${name} has ended`,
      `The workspace ${name} is on no paid plan any more. Nothing is deleted, and its members stay.`,
    ],
  }[letter.step] ?? [`About the plan of ${name}`, `The payment of the workspace ${name} has changed.`];
  const link = `${publicUrl}/${letter.slug}/-/billing`;
  return {
    to: letter.email,
    subject: subject ?? '',
    text: `${text}\n\nThe plan and its invoices:\n${link}\n`,
    html: `<p>${escapeHtml(text ?? '')}</p>\n<p><a href="${escapeHtml(link)}">The plan and its invoices</a></p>\n`,
  };
}
