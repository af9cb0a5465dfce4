import { html, LitElement, type TemplateResult } from 'lit';
import { type Method, type Reply, WidgetApi, WidgetError } from './api.ts';
import { askForToken } from './ask-for-token.ts';
import type { WidgetChange, WidgetFailure } from './events.ts';
import type { MessageKey } from './messages/messages.ts';
import { type Notice, type Question, renderDialog, renderFailure, renderNotice } from './parts.ts';
import { styles } from './styles.ts';
import { openTranslation, type Translation } from './translate.ts';

type State = 'waiting' | 'shown' | WidgetError;

/** By default the service that the module was loaded from. */
const SERVICE = new URL(import.meta.url).origin;

/**
 * Base class of all widgets, which are embedded in pages of other sites. It handles the token, loads the widget's
 * record and further data, runs actions, asks for confirmation before dangerous actions, and dispatches events to the
 * page.
 */
export abstract class Widget<Answer> extends LitElement {
  static override properties = {
    token: { type: String },
    tokenUrl: { type: String, attribute: 'token-url' },
    getToken: { attribute: false },
    baseUrl: { type: String, attribute: 'base-url' },
    theme: { type: String, reflect: true },
    lang: { type: String },
    state: { state: true },
  };
  static override styles = styles;
  /** A widget token for this kind of widget. */
  declare token: string;
  /**
   * An address of the page's own server that answers a POST with `{"token"}`; called again when a token has expired.
   */
  declare tokenUrl: string;
  /** The same as a function, for pages with scripts. */
  declare getToken: (() => Promise<string>) | undefined;
  /** The address of the service; by default where the module was loaded from. */
  declare baseUrl: string;
  /** light, dark, or auto (the preference of the system); otherwise the page's own `color-scheme` applies. */
  declare theme: string;
  declare state: State;
  declare protected answer: Answer;
  protected translation: Translation | undefined;
  /** The user's own choice of language, which applies if the page sets none. */
  protected preferredLanguage = '';
  #leaving = new AbortController();
  #renewed = '';
  #question: Question = { text: '', action: '', confirmed: async () => undefined };
  #notice: Notice = { text: '' };
  /** The last action that was started, with a key that identifies it. */
  #acting: { what: string; ended: Promise<unknown> } | undefined;

  /** The widget's name in the API. */
  protected abstract readonly widget: string;
  protected abstract renderAnswer(): TemplateResult;
  /** Loads data in addition to the widget's record, which it receives. */
  protected async load(_answer: Answer): Promise<void> {}

  constructor() {
    super();
    this.token = '';
    this.tokenUrl = '';
    this.baseUrl = '';
    this.lang = '';
    this.state = 'waiting';
  }

  protected get service(): string {
    return (this.baseUrl || SERVICE).replace(/\/+$/, '');
  }

  protected t = (key: MessageKey, values?: Record<string, string | number>): string =>
    this.translation?.text(key, values) ?? '';

  override willUpdate(changed: Map<string, unknown>): void {
    if (['token', 'tokenUrl', 'getToken', 'baseUrl', 'lang'].some((name) => changed.has(name))) {
      this.#renewed = '';
      void this.#begin();
    }
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && this.#leaving.signal.aborted) void this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leaving.abort();
  }

  async #begin(): Promise<void> {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    this.state = 'waiting';
    try {
      await this.#translate();
      if (this.token !== '' || this.tokenUrl !== '' || this.getToken !== undefined) await this.reload();
    } catch (error) {
      if (signal.aborted) return;
      const isKnown = error instanceof WidgetError;
      if (!isKnown) reportError(error);
      const failure = isKnown ? error : new WidgetError(0, '', '', '');
      this.state = failure;
      this.#tellFailure(failure);
    }
  }

  async #translate(): Promise<void> {
    const page = this.closest('[lang]')?.getAttribute('lang') ?? '';
    const preferred = [this.lang, this.preferredLanguage, page, ...navigator.languages].filter((tag) => tag !== '');
    const timeZone = this.translation?.timeZone;
    this.translation = await openTranslation(preferred);
    this.translation.timeZone = timeZone;
    this.requestUpdate();
  }

  protected async prefer(language: string, timeZone: string): Promise<void> {
    if (this.translation) this.translation.timeZone = timeZone || undefined;
    if (language === this.preferredLanguage) return;
    this.preferredLanguage = language;
    await this.#translate();
  }

  /** Reloads the widget's record and the further data. */
  protected async reload(): Promise<void> {
    const answer = await this.call<Answer>('GET', '');
    await this.load(answer);
    this.answer = answer;
    this.state = 'shown';
  }

  protected async call<T>(method: Method, path: string, body?: unknown): Promise<T> {
    return (await this.send<T>(method, path, body)).body;
  }

  protected send<T>(method: Method, path: string, body?: unknown): Promise<Reply<T>> {
    const tokens = { token: () => this.#renewed || this.token, renew: () => this.#renew() };
    const address = `${this.service}/v1/widgets/${this.widget}`;
    return new WidgetApi(address, tokens, this.#leaving.signal).call<T>(method, path, body);
  }

  #renew(): Promise<string> | undefined {
    const { getToken, tokenUrl } = this;
    if (getToken === undefined && tokenUrl === '') return undefined;
    const asked = getToken ? getToken() : askForToken(new URL(tokenUrl, document.baseURI), this.widget);
    return asked.then((token) => (this.#renewed = token));
  }

  /**
   * Runs the user's actions one after another and reloads the widget's data after each success. Returns the reply;
   * undefined if the action failed, or repeats an action that has not ended.
   */
  protected async act(method: Method, path: string, body?: unknown, done: MessageKey = 'saved'): Promise<unknown> {
    const what = JSON.stringify([method, path, body instanceof Blob ? [body.size, body.type] : body]);
    if (this.#acting?.what === what) return undefined;
    const before = this.#acting?.ended;
    const acting = { what, ended: Promise.allSettled([before]).then(() => this.#do(method, path, body, done)) };
    this.#acting = acting;
    this.requestUpdate();
    try {
      return await acting.ended;
    } finally {
      if (this.#acting === acting) this.#acting = undefined;
      this.requestUpdate();
    }
  }

  async #do(method: Method, path: string, body: unknown, done: MessageKey): Promise<unknown> {
    let reply: unknown;
    try {
      reply = (await this.call(method, path, body)) ?? true;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
    this.#tell<WidgetChange>('ibid:changed', { widget: this.widget, method, path });
    await this.#reloadAfter(done);
    return reply;
  }

  async #reloadAfter(done: MessageKey): Promise<void> {
    try {
      await this.reload();
      this.notify({ text: this.t(done) });
    } catch (error) {
      if (!(error instanceof WidgetError)) throw error;
      // The action may have ended the user's access: they have left, or given up their role.
      this.state = error;
      this.#tellFailure(error);
    }
  }

  /** Asks for confirmation before an action that is hard to undo. */
  protected ask(text: string, action: string, confirmed: () => Promise<unknown>): void {
    this.#question = { text, action, confirmed: async () => void (await confirmed()) };
    this.requestUpdate();
    void this.updateComplete.then(() => this.#dialog?.showModal());
  }

  /** Shows the failure of an action and tells the page. Rethrows errors that did not come from the service. */
  protected fail(error: unknown): void {
    if (this.#leaving.signal.aborted) return;
    if (!(error instanceof WidgetError)) throw error;
    this.notify({ text: this.messageOf(error), failure: error });
    this.#tellFailure(error);
  }

  protected notify(notice: Notice): void {
    this.#notice = notice;
    this.requestUpdate();
    // The focused element may have been removed together with its row.
    void this.updateComplete.then(() => {
      if (!this.shadowRoot?.activeElement) this.shadowRoot?.querySelector<HTMLElement>('.notice')?.focus();
    });
  }

  protected messageOf({ status, code, message }: WidgetError): string {
    if (status === 0) return this.t('error_unreachable');
    if (status === 401) return this.t('error_expired');
    return this.translation?.find(`error_${code}`) ?? (message || this.t('error_other'));
  }

  get #dialog(): HTMLDialogElement | null | undefined {
    return this.shadowRoot?.querySelector('dialog');
  }

  #tellFailure(failure: WidgetError): void {
    const { status, code, request_id } = failure;
    const message = this.messageOf(failure);
    this.#tell<WidgetFailure>('ibid:error', { widget: this.widget, status, code, message, request_id });
    if (status === 401) this.dispatchEvent(new CustomEvent('ibid-token-ended', { bubbles: true, composed: true }));
  }

  #tell<Detail>(name: string, detail: Detail): void {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }));
  }

  override render(): TemplateResult {
    const { state, translation } = this;
    const dir = translation?.dir ?? 'ltr';
    const body =
      state === 'shown'
        ? html`${renderNotice(this.t, this.#notice)}${this.renderAnswer()}${renderDialog(this.t, this.#question)}`
        : state === 'waiting'
          ? html`<p class="small" role="status">${this.t(this.#hasSource ? 'waiting' : 'no_token')}</p>`
          : renderFailure(this.t, this.messageOf(state), state, () => void this.#begin());
    return html`<div part="widget" lang=${translation?.language ?? 'en'} dir=${dir} aria-busy=${String(this.#acting !== undefined)}>${body}</div>`;
  }

  get #hasSource(): boolean {
    return this.token !== '' || this.tokenUrl !== '' || this.getToken !== undefined;
  }
}
