import type { Billing, BillingPreview, Invoice, Plan } from '../../../src/organization/billing/schema.ts';
import { type Content, type Html, html } from '../../html.ts';
import { renderSettings, settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { actionButton, hiddenFields } from '../../settings-forms.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import { invoiceTable, planCard, previewTable, statusNotes, subscriptionSection } from './billing-parts.ts';

const billingApi = ({ workspace }: SettingsContext) => `/v1/organizations/${workspace.organization_id}/billing`;
const field = ({ form }: Visit, name: string) => form.get(name) ?? '';

export const [billing, changeBilling] = settingsPage({
  path: '/:workspace/-/billing',
  title: 'Plan',
  flashMessages: {
    changed: 'Plan changed. This page will show it in a moment.',
    cancelled: 'Subscription cancelled. Everything works until the end of the period, and you can resume until then.',
    resumed: 'Subscription resumed.',
  },
  actions: {
    async checkout(visit, context) {
      const { url } = await visit.api.post<{ url: string }>(`${billingApi(context)}/checkout`, {
        plan_id: field(visit, 'plan_id'),
      });
      return leavePage(visit, context, url, 'Pay for the plan', 'The plan starts when it is paid.');
    },
    async portal(visit, context) {
      const { url } = await visit.api.post<{ url: string }>(`${billingApi(context)}/portal`);
      return leavePage(visit, context, url, 'Payment methods and invoices', 'A link there brings you back.');
    },
    async change(visit, context) {
      await visit.api.post(`${billingApi(context)}/change`, {
        plan_id: field(visit, 'plan_id'),
        preview_hash: field(visit, 'preview_hash'),
      });
      return 'changed';
    },
    async cancel(visit, context) {
      await visit.api.post(`${billingApi(context)}/cancel`);
      return 'cancelled';
    },
    async resume(visit, context) {
      await visit.api.post(`${billingApi(context)}/resume`);
      return 'resumed';
    },
  },
  async main(visit, context) {
    if (!visit.hasPayments) {
      const state = await visit.api.get<Billing>(billingApi(context));
      return html`<p class="lead">Payments are not set up on this server, so nothing is charged.</p>${subscriptionSection(state)}`;
    }
    const [plans, state] = await Promise.all([
      visit.api.get<Plan[]>(`${context.api}/plans`),
      visit.api.get<Billing>(billingApi(context)),
    ]);
    const { name } = context.workspace;
    const current = plans.find((plan) => plan.current);
    return html`<p class="lead">${current ? `${name} is on ${current.name}.` : `${name} has no plan, so nothing is charged.`}</p>
      ${statusNotes(state, visit.query.get('checkout'), visit.path)}
      ${await previewSection(visit, context, plans, state)}
      ${subscriptionSection(state)}
      <h2>Plans</h2>
      <ul class="plans">${plans.map(planCard)}</ul>
      ${await invoiceSection(visit, context, state)}`;
  },
});

/**
 * Shows a link to a page of the payment provider. A link, because the policy of our pages does not let forms lead to
 * another site, and because users see where it leads.
 */
function leavePage(visit: Visit, context: SettingsContext, url: string, name: string, note: string): WebResponse {
  const main = html`<p class="lead">Continue on a page of the payment provider. ${note}</p>
    <div class="row-of-buttons"><a class="button main" href="${url}" rel="noreferrer">${name}</a>
    <a class="button" href="${context.sectionUrl('billing')}">Back</a></div>`;
  return { page: renderSettings(visit, context, 'Plan', main) };
}

/** Shows the lines of a plan's price before anything changes, and the button that agrees to them. */
async function previewSection(
  { api, query, form }: Visit,
  context: SettingsContext,
  plans: Plan[],
  state: Billing,
): Promise<Content> {
  const plan_id = query.get('plan') ?? form.get('plan_id');
  if (plan_id === null) return false;
  const { body: it, header } = await api.postForHeader<BillingPreview>(
    `${billingApi(context)}/preview`,
    { plan_id },
    'preview-hash',
  );
  const name = plans.find((plan) => plan.plan_id === it.plan_id)?.name ?? it.plan_id;
  return html`<section class="panel" aria-labelledby="preview"><h2 id="preview">What ${name} would cost</h2>${previewTable(it)}
    ${agreeForm(it, header, name, state)}
    <p class="small">This is a preview. Nothing has been changed or charged.</p></section>`;
}

function agreeForm(
  { plan_id, checkout_type }: BillingPreview,
  preview_hash: string,
  name: string,
  state: Billing,
): Content {
  if (!state.paid_online) return false;
  if (checkout_type === 'subscription' && state.plan_source !== 'provider') {
    return actionButton('checkout', { plan_id }, `Go to checkout for ${name}`, 'main');
  }
  if (checkout_type !== 'update') return false;
  return html`<form method="post">${hiddenFields({ do: 'change', plan_id, preview_hash })}<button class="button main">Change to ${name} and pay</button></form>`;
}

async function invoiceSection({ api }: Visit, context: SettingsContext, state: Billing): Promise<Html | false> {
  if (!state.paid_online) return false;
  // The plan page must work while the payment provider is down.
  const invoices = await api.get<Invoice[]>(`${billingApi(context)}/invoices`).catch(() => undefined);
  return html`<h2>Invoices</h2>
    ${
      invoices === undefined
        ? html`<p class="empty">The payment provider cannot show the invoices right now. Try again later.</p>`
        : invoiceTable(invoices)
    }
    ${invoices !== undefined && invoices.length > 0 && actionButton('portal', {}, 'Payment methods and invoices')}`;
}
