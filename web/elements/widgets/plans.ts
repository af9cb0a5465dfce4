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

interface Preview {
  plan_id: string;
  currency: string | null;
  line_items: { name: string; description: string; quantity: number; total: number }[];
  total: number | null;
}

/** The plans, and what one would cost the workspace. They are changed in the settings of the workspace. */
export class PlansSection {
  readonly #host: Host;
  #plans: Plan[] | undefined;
  #preview: Preview | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async open(): Promise<void> {
    if (this.#plans) return;
    try {
      this.#plans = await this.#host.call<Plan[]>('GET', '/plans');
      this.#host.update();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  async #show(plan_id: string): Promise<void> {
    try {
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
    return html`<ul>${this.#plans.map((plan) => this.#renderPlan(plan))}</ul>
      <p><a part="link" href=${settings} target="_blank" rel="noopener">${t('change_plan')}</a></p>`;
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

  #renderPreview({ currency, line_items, total }: Preview): TemplateResult {
    const { t, translation } = this.#host;
    if (currency === null || total === null) return html`<p>${t('contact_sales')}</p>`;
    const money = (amount: number) => translation()?.money(amount, currency);
    return html`<table part="preview"><tbody>${line_items.map((line) => html`<tr><td>${line.name} × ${line.quantity}<br><span class="small">${line.description}</span></td><td>${money(line.total)}</td></tr>`)}
      <tr><th scope="row">${t('total')}</th><td>${money(total)}</td></tr></tbody></table>`;
  }
}
