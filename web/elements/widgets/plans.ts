import { html, nothing, type TemplateResult } from 'lit';
import type { Host } from './host.ts';

interface Plan {
  plan_id: string;
  name: string;
  description: string;
  interval: string;
  currency: string;
  unit_price: number;
  current: boolean;
}

interface Billing {
  status: 'none' | 'active' | 'past_due' | 'read_only';
  paid_online: boolean;
  quantity: number;
  writes_end_at?: string;
  checkout_pending: boolean;
}

interface Preview {
  plan_id: string;
  redirect_to_checkout: boolean;
  currency: string | null;
  line_items: { name: string; description: string; quantity: number; total: number }[];
  total: number | null;
}

/** Polling interval and maximum number of polls for an unconfirmed payment. */
const PENDING_MS = 3_000;
const PENDING_MAX = 20;

/**
 * The plans, the cost of each for the workspace, and the link to the first payment. Charging a stored card is possible
 * only in the settings of the workspace.
 */
export class PlansSection {
  readonly #host: Host;
  #plans: Plan[] | undefined;
  #billing: Billing | undefined;
  #preview: Preview | undefined;
  #payment = '';

  constructor(host: Host) {
    this.#host = host;
  }

  async open(): Promise<void> {
    if (this.#plans) return;
    try {
      await this.#read(PENDING_MAX);
    } catch (error) {
      this.#host.fail(error);
    }
  }

  async #read(more: number): Promise<void> {
    const { call, update, fail } = this.#host;
    [this.#plans, this.#billing] = await Promise.all([call<Plan[]>('GET', '/plans'), call<Billing>('GET', '/billing')]);
    update();
    if (this.#billing.checkout_pending && more > 0) setTimeout(() => this.#read(more - 1).catch(fail), PENDING_MS);
  }

  async #pay(plan_id: string): Promise<void> {
    // A frame has no address of its own to return to.
    const return_url = parent === window ? { return_url: location.href } : {};
    try {
      const { url } = await this.#host.call<{ url: string }>('POST', '/billing/checkout', { plan_id, ...return_url });
      this.#payment = url;
      this.#host.update();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  async #show(plan_id: string): Promise<void> {
    try {
      this.#payment = '';
      this.#preview = await this.#host.call<Preview>('POST', '/billing/preview', { plan_id });
      this.#host.update();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  /** `settings`: the address of the plan page. */
  render(settings: string): TemplateResult {
    const { t } = this.#host;
    if (!this.#plans) return html`<p class="small" role="status">${t('waiting')}</p>`;
    return html`<p role="status">${this.#status()}</p><ul>${this.#plans.map((plan) => this.#renderPlan(plan))}</ul>
      <p><a part="link" href=${settings} target="_blank" rel="noopener">${t('change_plan')}</a></p>`;
  }

  #status(): string {
    const { t, translation } = this.#host;
    const { status, quantity, writes_end_at = '', checkout_pending } = this.#billing ?? { status: 'none', quantity: 0 };
    if (checkout_pending) return t('payment_pending');
    if (status === 'read_only') return t('read_only');
    if (status === 'past_due') return t('payment_failed', { time: translation()?.day(writes_end_at) ?? '' });
    return quantity > 0 ? t('seats_paid', { count: quantity }) : '';
  }

  #renderPlan({ plan_id, name, description, interval, currency, unit_price, current }: Plan): TemplateResult {
    const { t, translation } = this.#host;
    const price =
      unit_price === 0
        ? ''
        : t(interval === 'year' ? 'per_year' : 'per_month', {
            price: translation()?.money(unit_price, currency) ?? '',
          });
    const preview = this.#preview?.plan_id === plan_id ? this.#preview : undefined;
    return html`<li part="row"><div class="row"><div><p>${name} ${current ? html`<span class="tag" part="tag">${t('current_plan')}</span>` : nothing} <span class="small">${price}</span></p>
        <p class="small">${description}</p></div>
      ${current ? nothing : html`<button type="button" part="button" aria-label=${t('preview_named', { name })} @click=${() => void this.#show(plan_id)}>${t('preview')}</button>`}</div>
      <div role="status">${preview ? this.#renderPreview(preview) : nothing}</div></li>`;
  }

  #renderPreview({ plan_id, currency, line_items, total, redirect_to_checkout }: Preview): TemplateResult {
    const { t, translation } = this.#host;
    if (currency === null || total === null) return html`<p>${t('contact_sales')}</p>`;
    const money = (amount: number) => translation()?.money(amount, currency);
    return html`<table part="preview"><tbody>${line_items.map((line) => html`<tr><td>${line.name} × ${line.quantity}<br><span class="small">${line.description}</span></td><td>${money(line.total)}</td></tr>`)}
      <tr><th scope="row">${t('total')}</th><td>${money(total)}</td></tr></tbody></table>
      ${redirect_to_checkout && this.#billing?.paid_online ? this.#renderPayment(plan_id) : nothing}`;
  }

  /** Renders a link to the payment. Following a link is the only way for a frame to navigate the whole window. */
  #renderPayment(plan_id: string): TemplateResult {
    const { t } = this.#host;
    return this.#payment === ''
      ? html`<button type="button" class="main" part="button" @click=${() => void this.#pay(plan_id)}>${t('go_to_payment')}</button>`
      : html`<p><a part="link" target="_top" href=${this.#payment}>${t('pay_now')}</a></p>`;
  }
}
