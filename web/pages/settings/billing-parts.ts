import type { Billing, BillingPreview, Invoice, Plan } from '../../../src/organization/billing/schema.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { actionButton, disclosure } from '../../settings-forms.ts';

export function planCard({
  plan_id,
  name,
  description,
  interval,
  currency,
  unit_price,
  seats,
  unlimited,
  checkout,
  current,
}: Plan): Html {
  const price =
    checkout === 'contact_sales'
      ? 'By contract'
      : unit_price === 0
        ? 'Free'
        : `${formatMoney(unit_price, currency)} per seat per ${interval}`;
  const seatsText = unlimited ? 'Unlimited seats' : `${seats} ${seats === 1 ? 'seat' : 'seats'} included`;
  return html`<li${current && html` class="chosen"`}><h3>${name}${current && html` <span class="tag">your plan</span>`}</h3>
    <p class="price">${price}</p><p class="small">${description}</p><p class="small">${seatsText}.</p>
    ${!current && html`<form><button class="button" name="plan" value="${plan_id}">Preview the cost<span class="sr-only"> of ${name}</span></button></form>`}</li>`;
}

export function previewTable({ checkout_type, currency, line_items, total }: BillingPreview): Content {
  if (checkout_type === 'contact_sales' || currency === null) {
    return html`<p>Pricing is by contract. Contact the operator of this service.</p>`;
  }
  if (line_items.length === 0) return html`<p>Nothing to pay.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Items"><table><thead><tr><th scope="col">Item</th><th scope="col" class="number">Seats</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${line_items.map((it) => html`<tr><td>${it.name}<br><span class="small">${it.description}</span></td><td class="number">${it.quantity}</td><td class="number">${formatMoney(it.total, currency)}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row" colspan="2">Due now</th><td class="number"><strong>${formatMoney(Math.max(0, total ?? 0), currency)}</strong></td></tr>
    ${(total ?? 0) < 0 && html`<tr><th scope="row" colspan="2">Credited to later invoices</th><td class="number">${formatMoney(-(total ?? 0), currency)}</td></tr>`}</tfoot></table></div>`;
}

/** Notes about a returned checkout or a failed payment. `checkout`: the result of the returned checkout. */
export function statusNotes(state: Billing, checkout: string | null, path: string): Content {
  const { status, checkout_pending, amount_due, currency, writes_end_at } = state;
  if (status === 'read_only') {
    return note(
      'bad',
      html`<p>This workspace is read-only because ${formatMoney(amount_due, currency)} is unpaid. You can still read and export it, and nothing is deleted. You can edit again once the amount is paid.</p>${payButton()}`,
    );
  }
  if (status === 'past_due') {
    return note(
      'bad',
      html`<p>A payment of ${formatMoney(amount_due, currency)} failed. Everything works until ${writes_end_at && time(writes_end_at)}. After that, the workspace is read-only until the amount is paid.</p>${payButton()}`,
    );
  }
  if (checkout === 'cancelled' && status === 'none')
    return note('', html`<p>Checkout cancelled. Nothing was charged.</p>`);
  if (checkout !== 'done') return false;
  if (status === 'active') return note('good', html`<p>Thank you. The plan is paid.</p>`);
  return (
    checkout_pending &&
    note(
      '',
      html`<p>The payment is not confirmed yet. This takes a few seconds, or longer with some banks. <a href="${path}?checkout=done">Check again</a></p>`,
    )
  );
}

function note(kind: string, content: Html): Html {
  return html`<div class="note ${kind}" role="status">${content}</div>`;
}

function payButton(): Html {
  return actionButton('portal', {}, 'Pay or change payment method', 'main');
}

/** Shows the seats used and bought, and what happens at the end of the period. */
export function subscriptionSection(state: Billing): Content {
  const { plan_source, quantity, seats, period_end, cancel_at_period_end } = state;
  if (plan_source === '') return false;
  const used = `${seats.active} active ${seats.active === 1 ? 'member' : 'members'}${seats.pending === 0 ? '' : `, ${seats.pending} invited`}`;
  const bought = seats.unlimited
    ? 'Seats are not limited.'
    : `${quantity} ${quantity === 1 ? 'seat is' : 'seats are'} paid.`;
  const grows = seats.overage_allowed
    ? ' Each accepted invitation adds a seat, and each member who leaves frees one. The next invoice includes the difference.'
    : '';
  return html`<h2>Seats and period</h2><p>${used}. ${bought}${grows}</p>
    ${plan_source === 'operator' ? html`<p>The operator of this service set the plan.</p>` : period_end && endOfPeriod(period_end, cancel_at_period_end)}`;
}

function endOfPeriod(period_end: string, isCancelled: boolean): Html {
  if (isCancelled) {
    return html`<p>The subscription ends on ${time(period_end)}. After that, nothing is charged or deleted, and members beyond the free seats stay.</p>
      ${actionButton('resume', {}, 'Resume subscription', 'main')}`;
  }
  return html`<p>The subscription renews on ${time(period_end)}.</p>
    ${disclosure(
      'Cancel subscription',
      'Everything works until the end of the period, which is not refunded. Then the workspace moves to the free plan: nothing is deleted and members beyond its seats stay, but you cannot invite more.',
      actionButton('cancel', {}, 'Cancel subscription', 'bad'),
    )}`;
}

export function invoiceTable(invoices: readonly Invoice[]): Html {
  if (invoices.length === 0) return html`<p class="empty">No invoices yet.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Invoices"><table><thead><tr><th scope="col">Invoice</th><th scope="col">Date</th><th scope="col">Status</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${invoices.map((it) => html`<tr><td>${it.url === '' ? it.number : html`<a href="${it.url}" rel="noreferrer">${it.number || 'Draft'}</a>`}</td><td>${time(it.created_at)}</td><td>${it.status}</td><td class="number">${formatMoney(it.total, it.currency)}</td></tr>`)}</tbody></table></div>`;
}

function formatMoney(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency: currency.toUpperCase() });
}
