import { type CSSResultGroup, css, html, LitElement, type TemplateResult } from 'lit';

/** The state of a widget's request. */
type State<Answer> =
  | { is: 'waiting' }
  | { is: 'shown'; answer: Answer }
  | { is: 'failed'; why: string; request_id: string };

/** By default the service that the module was loaded from. */
const SERVICE = new URL(import.meta.url).origin;

/**
 * The base of all widgets: loads the widget's record from the service with a widget token. Widgets are embedded in pages of
 * other sites, whose styles reach them only through the custom properties below.
 */
export abstract class Widget<Answer> extends LitElement {
  static override properties = {
    token: { type: String },
    baseUrl: { type: String, attribute: 'base-url' },
    theme: { type: String, reflect: true },
    state: { state: true },
  };
  /** A widget token of the element's own kind. */
  declare token: string;
  /** The address of the service; by default where the module was loaded from. */
  declare baseUrl: string;
  /** light, dark, or auto (the preference of the system); otherwise the page's own `color-scheme` applies. */
  declare theme: string;
  declare state: State<Answer>;
  #request: AbortController | undefined;

  /** The widget's name in the API. */
  protected abstract readonly widget: string;
  protected abstract renderAnswer(answer: Answer): TemplateResult;

  constructor() {
    super();
    this.token = '';
    this.baseUrl = '';
    this.state = { is: 'waiting' };
  }

  static override styles: CSSResultGroup = css`
    :host {
      --paper: var(--ibid-paper, light-dark(#fcfbf8, #171816));
      --paper-2: var(--ibid-paper-2, light-dark(#f1eee6, #2a2c28));
      --ink: var(--ibid-ink, light-dark(#22201b, #e7e5dc));
      --ink-2: var(--ibid-ink-2, light-dark(#5a564c, #aeac9f));
      --line: var(--ibid-line, light-dark(#ddd9cd, #363932));
      --accent: var(--ibid-accent, light-dark(#0d6157, #7fcdbd));
      --bad: var(--ibid-bad, light-dark(#a3261f, #f2a097));
      display: block; container-type: inline-size; box-sizing: border-box; padding: 1.1rem 1.25rem;
      background: var(--paper); color: var(--ink); border: 1px solid var(--line); border-radius: var(--ibid-radius, 12px);
      font: 1rem/1.5 var(--ibid-font, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif); overflow-wrap: anywhere; text-align: start;
    }
    :host([hidden]) { display: none; }
    :host([theme='light']) { color-scheme: light; }
    :host([theme='dark']) { color-scheme: dark; }
    :host([theme='auto']) { color-scheme: light dark; }
    * { box-sizing: border-box; }
    p { margin: 0; }
    h2 { margin: 0; font: inherit; font-weight: 650; font-size: 1.05rem; }
    ul { list-style: none; margin: 0.75rem 0 0; padding: 0; }
    li { padding: 0.6rem 0; border-top: 1px solid var(--line); }
    li:last-child { padding-bottom: 0; }
    .row { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0.1rem 1rem; }
    .small { color: var(--ink-2); font-size: 0.875rem; }
    .tag { font-size: 0.8rem; padding: 0.05rem 0.5rem; border: 1px solid var(--line); border-radius: 99px; color: var(--ink-2); }
    code { font: 0.875em ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', Consolas, monospace; }
    button { font: inherit; min-height: 2.25rem; margin-top: 0.6rem; padding: 0.2rem 0.9rem; color: var(--ink); background: transparent; border: 1px solid var(--ink-2); border-radius: 8px; cursor: pointer; }
    button:hover { background: var(--paper-2); }
    summary { cursor: pointer; padding: 0.15rem 0; border-radius: 4px; color: var(--ink-2); font-size: 0.875rem; min-height: 24px; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    .failed { color: var(--bad); }
  `;

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has('token') || changed.has('baseUrl')) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#request?.abort();
  }

  async #load(): Promise<void> {
    this.#request?.abort();
    this.state = { is: 'waiting' };
    if (this.token === '') return;
    const asked = new AbortController();
    this.#request = asked;
    try {
      const response = await fetch(`${(this.baseUrl || SERVICE).replace(/\/+$/, '')}/v1/widgets/${this.widget}`, {
        headers: { authorization: `Bearer ${this.token}` },
        // The token is the only credential.
        credentials: 'omit',
        signal: asked.signal,
      });
      const body = await response.json();
      if (response.ok) this.state = { is: 'shown', answer: body };
      else this.#fail(errorMessage(response.status, body.message), body.request_id);
      if (response.status === 401)
        this.dispatchEvent(new CustomEvent('ibid-token-ended', { bubbles: true, composed: true }));
    } catch (cause) {
      if (asked.signal.aborted) return;
      // Browsers do not tell scripts whether the connection failed or CORS denied the reply.
      const why = cause instanceof SyntaxError ? 'The reply did not come from the service.' : UNREACHABLE;
      this.#fail(why, '');
    }
  }

  #fail(why: string, request_id = ''): void {
    this.state = { is: 'failed', why, request_id };
  }

  override render(): TemplateResult {
    const { state } = this;
    if (state.is === 'shown') return this.renderAnswer(state.answer);
    if (state.is === 'waiting')
      return html`<p class="small" role="status">${this.token === '' ? 'This needs a token to be shown.' : 'One moment…'}</p>`;
    return html`<div role="alert"><p class="failed">${state.why}</p>${state.request_id === '' ? '' : html`<p class="small">Request <code>${state.request_id}</code></p>`}</div>
      <button type="button" @click=${() => this.#load()}>Try again</button>`;
  }
}

const UNREACHABLE = 'The service cannot be reached, or its workspace does not allow this site to show it.';

function errorMessage(status: number, message: unknown): string {
  if (status === 401) return 'This view has expired. Load the page again.';
  if (status === 403) return 'You do not have access to this. Ask an admin of the workspace.';
  return typeof message === 'string' ? message : 'That did not work.';
}

/** A date in the reader's time zone and language. */
export function formatDay(at: string): string {
  return new Date(at).toLocaleDateString([], { dateStyle: 'medium' });
}
