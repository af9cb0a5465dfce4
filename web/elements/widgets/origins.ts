import { html, type TemplateResult } from 'lit';
import { fieldsOf } from './form-fields.ts';
import type { MessageKey } from './messages/messages.ts';

interface OriginsHost {
  t(key: MessageKey, values?: Record<string, string>): string;
  ask(text: string, action: string, confirmed: () => Promise<unknown>): void;
  change(origins: string[]): Promise<unknown>;
}

/**
 * Renders the origins whose pages may embed a workspace's widgets. Adding or removing an origin asks for confirmation.
 */
export function renderOrigins(origins: readonly string[], { t, ask, change }: OriginsHost): TemplateResult {
  const add = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const origin = String(fieldsOf(event).get('origin')).trim();
    ask(t('ask_add_origin', { origin }), t('add_origin'), async () => {
      if (await change([...origins, origin])) form.reset();
    });
  };
  const remove = (origin: string) =>
    ask(t('ask_remove_origin', { origin }), t('remove'), () => change(origins.filter((it) => it !== origin)));
  return html`<ul>${origins.map(
    (it) => html`<li class="row" part="row"><code dir="ltr">${it}</code>
      <button class="bad" part="button danger" type="button" aria-label=${t('remove_named', { name: it })} @click=${() => remove(it)}>${t('remove')}</button></li>`,
  )}</ul>
  <form class="fields" part="form" @submit=${add}><label>${t('origin')}<input part="input" name="origin" type="url" dir="ltr" required placeholder="https://intranet.example.com"></label>
    <button class="main" part="button">${t('add_origin')}</button></form>`;
}
