import type { BillingPreview, Plan } from '../../../src/billing/schema.ts';
import { type Content, type Html, html } from '../../html.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import type { Visit } from '../../visit.ts';

export const [billing] = settingsPage({
  path: '/:workspace/-/billing',
  title: 'Plan',
  flashMessages: {},
  // A preview stores nothing, so its form is sent by GET.
  actions: {},
  async main(visit, context) {
    const plans = await visit.api.get<Plan[]>(`${context.api}/plans`);
    const current = plans.find((plan) => plan.current);
    return html`<p class="lead">${current ? `${context.workspace.name} is on ${current.name}.` : `${context.workspace.name} is on no plan, so nothing is charged.`}</p>
      ${await renderPreview(visit, context, plans)}
      <h2>Plans</h2>
      <ul class="plans">${plans.map(planCard)}</ul>`;
  },
});

function planCard({
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

async function renderPreview({ api, query }: Visit, context: SettingsContext, plans: Plan[]): Promise<Content> {
  const plan_id = query.get('plan');
  if (plan_id === null) return false;
  const it = await api.post<BillingPreview>(`/v1/organizations/${context.workspace.organization_id}/billing/preview`, {
    plan_id,
  });
  const name = plans.find((plan) => plan.plan_id === it.plan_id)?.name ?? it.plan_id;
  return html`<section class="panel" aria-labelledby="preview"><h2 id="preview">What ${name} would cost</h2>${previewTable(it)}
    <p class="small">This is a preview: nothing was changed, and nothing is charged.</p></section>`;
}

function previewTable({ checkout_type, currency, line_items, total }: BillingPreview): Content {
  if (checkout_type === 'contact_sales' || currency === null) {
    return html`<p>The price is set by contract. Ask the operator of this service.</p>`;
  }
  if (line_items.length === 0) return html`<p>Nothing.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Items"><table><thead><tr><th scope="col">Item</th><th scope="col" class="number">Seats</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${line_items.map((it) => html`<tr><td>${it.name}<br><span class="small">${it.description}</span></td><td class="number">${it.quantity}</td><td class="number">${formatMoney(it.total, currency)}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row" colspan="2">To pay now</th><td class="number"><strong>${formatMoney(Math.max(0, total ?? 0), currency)}</strong></td></tr>
    ${(total ?? 0) < 0 && html`<tr><th scope="row" colspan="2">Credited to later invoices</th><td class="number">${formatMoney(-(total ?? 0), currency)}</td></tr>`}</tfoot></table></div>`;
}

function formatMoney(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency: currency.toUpperCase() });
}
