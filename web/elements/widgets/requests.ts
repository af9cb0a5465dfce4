import { html, type TemplateResult } from 'lit';
import type { Host } from './host.ts';
import { PagedList } from './paged-list.ts';

interface LoggedRequest {
  request_id: string;
  method: string;
  path: string;
  status: number;
  error: string;
  duration_ms: number;
  credential_id: string;
  created_at: string;
}

/** The latest API requests of a workspace, newest first. */
export class RequestsSection {
  readonly #host: Host;
  readonly #requests: PagedList<LoggedRequest>;

  constructor(host: Host) {
    this.#host = host;
    this.#requests = new PagedList<LoggedRequest>(host, '/request-log', (requests) => requests);
  }

  read(): Promise<void> {
    return this.#requests.search({});
  }

  /** `names`: the names of API keys by their ids. */
  render(names: ReadonlyMap<string, string>): TemplateResult {
    const { t, translation } = this.#host;
    const requests = this.#requests.items;
    return html`<div class="row"><p class="small" role="status">${requests === undefined ? t('waiting') : requests.length === 0 ? t('no_requests') : t('requests_shown', { count: requests.length })}</p>
        <button type="button" part="button" @click=${() => void this.read()}>${t('refresh')}</button></div>
      <ul>${requests?.map(
        (
          it,
        ) => html`<li part="row"><div class="row"><code dir="ltr">${it.method} ${it.path}</code><code dir="ltr" class=${it.status < 400 ? '' : 'failed'}>${it.status}${it.error && ` ${it.error}`}</code></div>
        <p class="small">${translation()?.time(it.created_at)} · <span dir="ltr">${it.duration_ms} ms</span> · ${names.get(it.credential_id) ?? it.credential_id} · <code dir="ltr">${it.request_id}</code></p></li>`,
      )}</ul>
      ${this.#requests.renderMore(t('request_log'))}`;
  }
}
