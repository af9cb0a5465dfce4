import type { StripeAccount } from './account.ts';
import type { Param, Params } from './decode-form.ts';
import {
  creditNoteJson,
  customerJson,
  type Invoice,
  invoiceJson,
  type Price,
  portalJson,
  priceJson,
  type Subscription,
  sessionJson,
  subscriptionJson,
} from './objects.ts';
import { checkParameters, optionalInteger, optionalText, requireText } from './parameters.ts';
import { invalid, missing } from './problem.ts';
import type { PlannedChange } from './proration.ts';
import { WEBHOOK_SECRET } from './secrets.ts';

interface Call {
  account: StripeAccount;
  url: string;
  /** The id in the path, or "". */
  id: string;
  params: Params;
}

interface Route {
  pattern: RegExp;
  method: 'GET' | 'POST' | 'DELETE';
  /** The interface with the parameters, in the types of the library. */
  types: [file: string, name: string];
  answer(call: Call): object;
}

/** The largest amount of a charge, in minor units. */
const AMOUNT_MAX = 99_999_999;

/** Maximum number of records in a list inside another record. */
const EXPANDED_MAX = 10;

export function answerRequest(
  account: StripeAccount,
  url: string,
  method: string,
  path: string,
  params: Params,
): object {
  for (const route of ROUTES) {
    const match = route.pattern.exec(path);
    if (!match || route.method !== method) continue;
    checkParameters(params, ...route.types);
    return route.answer({ account, url, id: match[1] ?? '', params });
  }
  throw invalid(`Unrecognized request URL (${method}: ${path}).`, 'unknown_url');
}

const ROUTES: Route[] = [
  {
    ...{ method: 'POST', pattern: /^\/v1\/customers$/, types: ['Customers', 'CustomerCreateParams'] },
    answer: ({ account, params }) =>
      customerJson(
        account.addCustomer({ email: optionalText(params, 'email') ?? '', metadata: textsOf(params.metadata) }),
      ),
  },
  {
    ...{ method: 'GET', pattern: /^\/v1\/customers\/(\w+)$/, types: ['Customers', 'CustomerRetrieveParams'] },
    answer({ account, id, params }) {
      const customer = account.customer(id);
      const isExpanded = !customer.deleted && listIn(params.expand).includes('subscriptions');
      return { ...customerJson(customer), ...(isExpanded && { subscriptions: currentOf(account, id) }) };
    },
  },
  {
    ...{ method: 'GET', pattern: /^\/v1\/prices$/, types: ['Prices', 'PriceListParams'] },
    answer({ account, params }) {
      const keys = Object.values((params.lookup_keys ?? {}) as Params);
      return listOf(
        [...account.prices.values()].filter((it) => it.active && keys.includes(it.lookup_key)).map(priceJson),
      );
    },
  },
  {
    ...{ method: 'POST', pattern: /^\/v1\/prices$/, types: ['Prices', 'PriceCreateParams'] },
    answer: createPrice,
  },
  {
    ...{
      method: 'POST',
      pattern: /^\/v1\/webhook_endpoints$/,
      types: ['WebhookEndpoints', 'WebhookEndpointCreateParams'],
    },
    answer({ account, params }) {
      const enabled_events = listIn(params.enabled_events).map(String);
      account.endpoint = { url: requireText(params, 'url'), enabled_events };
      return { id: 'we_1', object: 'webhook_endpoint', ...account.endpoint, secret: WEBHOOK_SECRET };
    },
  },
  {
    ...{ method: 'POST', pattern: /^\/v1\/checkout\/sessions$/, types: ['Checkout/Sessions', 'SessionCreateParams'] },
    answer: createSession,
  },
  {
    ...{ method: 'GET', pattern: /^\/v1\/checkout\/sessions$/, types: ['Checkout/Sessions', 'SessionListParams'] },
    answer({ account, url, params }) {
      const isAsked = (it: { customer: string; status: string }) =>
        it.customer === params.customer && (params.status === undefined || it.status === params.status);
      return listOf(
        [...account.sessions.values()].filter(isAsked).map((it) => sessionJson(it, `${url}/pay/${it.id}`, null)),
      );
    },
  },
  {
    ...{
      method: 'POST',
      pattern: /^\/v1\/checkout\/sessions\/(\w+)\/expire$/,
      types: ['Checkout/Sessions', 'SessionExpireParams'],
    },
    answer: ({ account, url, id }) => sessionJson(account.expire(id), `${url}/pay/${id}`, null),
  },
  {
    ...{
      method: 'POST',
      pattern: /^\/v1\/billing_portal\/sessions$/,
      types: ['BillingPortal/Sessions', 'SessionCreateParams'],
    },
    answer({ account, url, params }) {
      const { id } = account.liveCustomer(requireText(params, 'customer'));
      return portalJson('bps_1', id, requireText(params, 'return_url'), `${url}/portal/${id}`);
    },
  },
  {
    ...{ method: 'GET', pattern: /^\/v1\/subscriptions$/, types: ['Subscriptions', 'SubscriptionListParams'] },
    answer: ({ account, params }) =>
      listOf(
        account
          .subscriptionsOf(account.customer(requireText(params, 'customer')).id)
          .map((it) => described(account, it)),
      ),
  },
  {
    ...{
      method: 'POST',
      pattern: /^\/v1\/subscriptions\/(\w+)$/,
      types: ['Subscriptions', 'SubscriptionUpdateParams'],
    },
    answer: updateSubscription,
  },
  {
    ...{
      method: 'DELETE',
      pattern: /^\/v1\/subscriptions\/(\w+)$/,
      types: ['Subscriptions', 'SubscriptionCancelParams'],
    },
    answer({ account, id }) {
      account.cancel(id);
      return described(account, account.subscription(id));
    },
  },
  {
    ...{ method: 'GET', pattern: /^\/v1\/invoices$/, types: ['Invoices', 'InvoiceListParams'] },
    answer({ account, params }) {
      const isAsked = (it: Invoice) =>
        (params.status === undefined || it.status === params.status) &&
        (params.subscription === undefined || it.subscription === params.subscription);
      return listOf(
        account
          .invoicesOf(account.customer(requireText(params, 'customer')).id)
          .filter(isAsked)
          .map(invoiceJson),
      );
    },
  },
  {
    ...{
      method: 'POST',
      pattern: /^\/v1\/invoices\/create_preview$/,
      types: ['Invoices', 'InvoiceCreatePreviewParams'],
    },
    answer: createPreview,
  },
  {
    ...{ method: 'POST', pattern: /^\/v1\/credit_notes$/, types: ['CreditNotes', 'CreditNoteCreateParams'] },
    answer({ account, params }) {
      const invoice = requireText(params, 'invoice');
      const amount = optionalInteger(params, 'refund_amount') ?? 0;
      account.refund(invoice, amount);
      return creditNoteJson('cn_1', invoice, amount);
    },
  },
];

function createPrice({ account, params }: Call): object {
  const recurring = recordOf(params.recurring);
  checkParameters(recurring, 'Prices', 'PriceCreateParams.Recurring');
  checkParameters(recordOf(params.product_data), 'Prices', 'PriceCreateParams.ProductData');
  const lookup_key = requireText(params, 'lookup_key');
  if ([...account.prices.values()].some((it) => it.lookup_key === lookup_key)) {
    throw invalid(`A price (\`${lookup_key}\`) already uses that lookup key.`);
  }
  const interval = requireText(recurring, 'interval');
  if (interval !== 'month' && interval !== 'year') throw invalid(`Invalid recurring[interval]: ${interval}`);
  const unit_amount = optionalInteger(params, 'unit_amount') ?? 0;
  return priceJson(account.addPrice({ lookup_key, currency: requireText(params, 'currency'), unit_amount, interval }));
}

function createSession({ account, url, params }: Call): object {
  const customer = account.liveCustomer(requireText(params, 'customer'));
  const { price, quantity } = itemOf(account, params.line_items);
  const live = account.subscriptionsOf(customer.id).find((it) => it.status !== 'canceled');
  if (live && live.price.currency !== price.currency) {
    throw invalid('You cannot combine currencies on a single customer.');
  }
  const session = account.addSession({
    ...{ customer: customer.id, price, quantity, automatic_tax: isTaxed(params) },
    metadata: textsOf(recordOf(params.subscription_data).metadata),
    success_url: requireText(params, 'success_url'),
    cancel_url: requireText(params, 'cancel_url'),
  });
  return sessionJson(session, `${url}/pay/${session.id}`, null);
}

function updateSubscription({ account, id, params }: Call): object {
  const subscription = account.subscription(id);
  if (subscription.status === 'canceled')
    throw invalid('A canceled subscription can only update its cancellation_details.');
  if (params.items !== undefined) {
    const behavior = optionalText(params, 'proration_behavior') ?? 'create_prorations';
    const failsOnDecline = optionalText(params, 'payment_behavior') === 'error_if_incomplete';
    account.change(subscription, plannedChange(account, subscription, params), behavior, failsOnDecline);
  }
  const atEnd = optionalText(params, 'cancel_at_period_end');
  if (atEnd !== undefined) account.cancelAtPeriodEnd(subscription, atEnd === 'true');
  return described(account, subscription);
}

function createPreview({ account, params }: Call): object {
  const details = recordOf(params.subscription_details);
  checkParameters(details, 'Invoices', 'InvoiceCreatePreviewParams.SubscriptionDetails');
  const customer_id = optionalText(params, 'customer');
  const customer = customer_id === undefined ? undefined : account.liveCustomer(customer_id);
  const id = optionalText(params, 'subscription');
  if (id === undefined) {
    const { price, quantity } = itemOf(account, details.items);
    if (isTaxed(params) && !customer) throw invalid('Automatic tax needs a customer.');
    return invoiceJson(account.previewNew(customer, price, quantity, isTaxed(params)));
  }
  const subscription = account.subscription(id);
  return invoiceJson(account.preview(subscription, plannedChange(account, subscription, details)));
}

function plannedChange(account: StripeAccount, subscription: Subscription, params: Params): PlannedChange {
  const date = optionalInteger(params, 'proration_date') ?? account.now();
  const { period_start, period_end } = subscription;
  if (date < period_start || date > period_end) {
    throw invalid(
      'The proration date must be within the current billing period.',
      'subscription_proration_date_invalid',
    );
  }
  const [item] = listIn(params.items);
  if (recordOf(item).id !== subscription.item_id) throw missing('subscription_item', String(recordOf(item).id));
  const price = recordOf(item).price === undefined ? subscription.price : undefined;
  const change = itemOf(account, params.items, price);
  if (change.price.currency !== subscription.price.currency)
    throw invalid('The currency of a subscription cannot be changed.');
  return { ...change, date };
}

function itemOf(account: StripeAccount, items: Param | undefined, kept?: Price): { price: Price; quantity: number } {
  const item = recordOf(listIn(items)[0]);
  const price = kept ?? account.price(requireText(item, 'price'));
  const quantity = optionalInteger(item, 'quantity', 1) ?? 1;
  if (price.unit_amount * quantity > AMOUNT_MAX)
    throw invalid('The amount must be no more than 99999999.', 'amount_too_large');
  return { price, quantity };
}

/** Returns the list of subscriptions of an expanded customer: at most ten that have not ended. */
function currentOf(account: StripeAccount, customer: string): object {
  const current = account.subscriptionsOf(customer).filter(({ status }) => status !== 'canceled');
  const data = current.slice(0, EXPANDED_MAX).map((it) => described(account, it));
  return { ...listOf(data), has_more: current.length > EXPANDED_MAX };
}

function described(account: StripeAccount, subscription: Subscription): object {
  const latest = account.invoicesOf(subscription.customer).find((it) => it.subscription === subscription.id);
  return subscriptionJson(subscription, latest?.id ?? null);
}

const isTaxed = (params: Params) => recordOf(params.automatic_tax).enabled === 'true';
const listOf = (data: object[]) => ({ object: 'list', data, has_more: false, url: '/v1' });
const listIn = (value: Param | undefined): Param[] => (Array.isArray(value) ? value : []);
const recordOf = (value: Param | undefined): Params =>
  typeof value === 'object' && !Array.isArray(value) ? value : {};
const textsOf = (value: Param | undefined) => recordOf(value) as Record<string, string>;
