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
        ? 'Nothing to pay'
        : `${formatMoney(unit_price, currency)} a seat and ${interval}`;
  const seatsText = unlimited
    ? 'As many people as you like'
    : `${seats} ${seats === 1 ? 'seat' : 'seats'} to begin with`;
  return html`<li${current && html` class="chosen"`}><h3>${name}${current && html` <span class="tag">your plan</span>`}</h3>
    <p class="price">${price}</p><p class="small">${description}</p><p class="small">${seatsText}.</p>
    ${!current && html`<form><button class="button" name="plan" value="${plan_id}">Preview the cost<span class="sr-only"> of ${name}</span></button></form>`}</li>`;
}

export function previewTable({ checkout_type, currency, line_items, total }: BillingPreview): Content {
  if (checkout_type === 'contact_sales' || currency === null) {
    return html`<p>The price is set by contract. Ask the operator of this service.</p>`;
  }
  if (line_items.length === 0) return html`<p>Nothing.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Items"><table><thead><tr><th scope="col">Item</th><th scope="col" class="number">Seats</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${line_items.map((it) => html`<tr><td>${it.name}<br><span class="small">${it.description}</span></td><td class="number">${it.quantity}</td><td class="number">${formatMoney(it.total, currency)}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row" colspan="2">To pay now</th><td class="number"><strong>${formatMoney(Math.max(0, total ?? 0), currency)}</strong></td></tr>
    ${(total ?? 0) < 0 && html`<tr><th scope="row" colspan="2">Credited to later invoices</th><td class="number">${formatMoney(-(total ?? 0), currency)}</td></tr>`}</tfoot></table></div>`;
}

/** Notes about a returned checkout or a failed payment. `checkout`: the result of the returned checkout. */
export function statusNotes(state: Billing, checkout: string | null, path: string): Content {
  const { status, checkout_pending, amount_due, currency, writes_end_at } = state;
  if (status === 'read_only') {
    return note(
      'bad',
      html`<p>This workspace is read-only, because ${formatMoney(amount_due, currency)} are unpaid. It can be read and exported, and nothing is deleted. Writing goes on as soon as it is paid.</p>${payButton()}`,
    );
  }
  if (status === 'past_due') {
    return note(
      'bad',
      html`<p>A payment of ${formatMoney(amount_due, currency)} failed. Everything works until ${writes_end_at && time(writes_end_at)}; then the workspace is read-only until it is paid.</p>${payButton()}`,
    );
  }
  if (checkout === 'cancelled' && status === 'none')
    return note('', html`<p>The checkout was left. Nothing was charged.</p>`);
  if (checkout !== 'done') return false;
  if (status === 'active') return note('good', html`<p>Thank you: the plan is paid.</p>`);
  return (
    checkout_pending &&
    note(
      '',
      html`<p>The payment is not confirmed yet. This takes a few seconds, with some banks longer. <a href="${path}?checkout=done">Look again</a></p>`,
    )
  );
}

function note(kind: string, content: Html): Html {
  return html`<div class="note ${kind}" role="status">${content}</div>`;
}

function payButton(): Html {
  return actionButton('portal', {}, 'Pay it, or change the payment method', 'main');
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
    ? ' Who accepts an invitation takes a further seat, and who leaves frees one: the next invoice has the difference.'
    : '';
  return html`<h2>Seats and period</h2><p>${used}. ${bought}${grows}</p>
    ${plan_source === 'operator' ? html`<p>The operator of this service has set the plan.</p>` : period_end && endOfPeriod(period_end, cancel_at_period_end)}`;
}

function endOfPeriod(period_end: string, isCancelled: boolean): Html {
  if (isCancelled) {
    return html`<p>The subscription ends on ${time(period_end)}. Then nothing is charged, nothing is deleted, and members beyond the free seats stay.</p>
      ${actionButton('resume', {}, 'Resume the subscription', 'main')}`;
  }
  return html`<p>It renews on ${time(period_end)}.</p>
    ${disclosure(
      'Cancel the subscription',
      'Everything works until the end of the period, which is not refunded. Then the workspace is on the free plan: nothing is deleted, members beyond its seats stay, and no further ones can be invited.',
      actionButton('cancel', {}, 'Cancel the subscription', 'bad'),
    )}`;
}

export function invoiceTable(invoices: readonly Invoice[]): Html {
  if (invoices.length === 0) return html`<p class="empty">There are no invoices.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Invoices"><table><thead><tr><th scope="col">Invoice</th><th scope="col">Date</th><th scope="col">Status</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${invoices.map((it) => html`<tr><td>${it.url === '' ? it.number : html`<a href="${it.url}" rel="noreferrer">${it.number || 'Draft'}</a>`}</td><td>${time(it.created_at)}</td><td>${it.status}</td><td class="number">${formatMoney(it.total, it.currency)}</td></tr>`)}</tbody></table></div>`;
}

function formatMoney(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency: currency.toUpperCase() });
}
