/** Attributes, properties and events of the Ibid elements. */
export interface IbidWidgetAttributes {
  token?: string;
  'token-url'?: string;
  'base-url'?: string;
  theme?: 'light' | 'dark' | 'auto';
  lang?: 'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar';
}

export interface IbidWidgetElement extends HTMLElement {
  token: string;
  tokenUrl: string;
  baseUrl: string;
  theme: string;
  getToken: (() => Promise<string>) | undefined;
}

export type IbidWidgetName = 'profile' | 'enterprise' | 'developers';

export type IbidChangedEvent = CustomEvent<{
  widget: IbidWidgetName;
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
}>;

export type IbidErrorEvent = CustomEvent<{
  widget: IbidWidgetName;
  status: number;
  code: string;
  message: string;
  request_id: string;
}>;

declare global {
  interface HTMLElementTagNameMap {
    'ibid-profile': IbidWidgetElement;
    'ibid-enterprise': IbidWidgetElement;
    'ibid-developers': IbidWidgetElement;
  }
  interface GlobalEventHandlersEventMap {
    'ibid:changed': IbidChangedEvent;
    'ibid:error': IbidErrorEvent;
  }
}
