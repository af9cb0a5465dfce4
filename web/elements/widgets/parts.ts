import { html, nothing, type TemplateResult } from 'lit';
import type { WidgetError } from './api.ts';
import type { MessageKey } from './messages/messages.ts';

type Texts = (key: MessageKey) => string;

export interface Notice {
  text: string;
  failure?: WidgetError;
}

/** A confirmation before an action that is hard to undo. */
export interface Question {
  text: string;
  action: string;
  confirmed(): Promise<void>;
}

export function renderNotice(t: Texts, { text, failure }: Notice): TemplateResult {
  const request = failure?.request_id
    ? html` <span class="small">${t('request')} <code>${failure.request_id}</code></span>`
    : nothing;
  return html`<p class="notice ${failure ? 'failed' : ''}" part="notice" tabindex="-1" role=${failure ? 'alert' : 'status'}>${text}${request}</p>`;
}

/** Renders a failure in place of the widget. */
export function renderFailure(t: Texts, text: string, { request_id }: WidgetError, again: () => void): TemplateResult {
  return html`<div role="alert" part="notice"><p class="failed">${text}</p>
      ${request_id === '' ? nothing : html`<p class="small">${t('request')} <code>${request_id}</code></p>`}</div>
      <button type="button" part="button" @click=${again}>${t('try_again')}</button>`;
}

export function renderDialog(t: Texts, { text, action, confirmed }: Question): TemplateResult {
  const close = (event: Event) => (event.currentTarget as Element).closest('dialog')?.close();
  const confirm = (event: Event) => {
    close(event);
    void confirmed();
  };
  return html`<dialog part="dialog" aria-labelledby="question">
      <p id="question">${text}</p>
      <div class="row"><button type="button" part="button" @click=${close}>${t('cancel')}</button>
      <button type="button" class="bad" part="button danger" @click=${confirm}>${action}</button></div></dialog>`;
}
