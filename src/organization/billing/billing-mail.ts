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
      `Payment failed for ${name}`,
      `${amount} for the workspace ${name} could not be paid. Everything keeps working until ${until}. After that, the workspace is read-only until the invoice is paid.`,
    ],
    grace_ending: [
      `${name} becomes read-only on ${until}`,
      `${amount} for the workspace ${name} is still unpaid. From ${until}, the workspace is read-only: you can read and export it, and nothing is deleted.`,
    ],
    read_only: [
      `${name} is now read-only`,
      `${amount} for the workspace ${name} was not paid. You can still read and export the workspace, and nothing is deleted. You can edit again as soon as the invoice is paid.`,
    ],
    paid: [
      `Payment received for ${name}`,
      `Thank you. All invoices are paid, and the workspace ${name} is fully available.`,
    ],
    ended: [
      `The subscription of ${name} has ended`,
      `The workspace ${name} no longer has a paid plan. Nothing was deleted, and its members stay.`,
    ],
  }[letter.step] ?? [`Your plan for ${name}`, `The billing of the workspace ${name} has changed.`];
  const link = `${publicUrl}/${letter.slug}/-/billing`;
  return {
    to: letter.email,
    subject: subject ?? '',
    text: `${text}\n\nManage plan and invoices:\n${link}\n`,
    html: `<p>${escapeHtml(text ?? '')}</p>\n<p><a href="${escapeHtml(link)}">Manage plan and invoices</a></p>\n`,
  };
}
