import type { FastifyRequest } from 'fastify';
import type { OperatorConsole } from '../src/operation/operator/schema.ts';
import type { Api } from './api.ts';
import type { Html } from './html.ts';

type Theme = 'auto' | 'light' | 'dark';

/** A browser's request for a page, with everything its handler needs. */
export interface Visit {
  api: Api;
  request: FastifyRequest;
  /** The requested path without its query. */
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  /** The fields of a posted form; empty for a GET. */
  form: URLSearchParams;
  /** The file of a form with a file field. */
  file?: Buffer;
  theme: Theme;
  /** Whether only the parts that differ from the current page are requested: see elements/navigation. */
  isFragment: boolean;
  /** The width of the tree chosen in this browser, in rem. */
  sidebarWidth: number;
  assets: AssetUrls;
  /** The service's own address, without a slash at the end. */
  publicUrl: string;
  /** Whether a mail server is configured; without one, messages go to the log of the service. */
  hasMail: boolean;
  /** Whether users can pay for plans here. */
  hasPayments: boolean;
  sessionCookie: string;
  /** undefined if the configuration names no operators. */
  operatorConsole: OperatorConsole | undefined;
}

export interface AssetUrls {
  /** The address of a bundle: style.css, reader.js, … */
  url(name: string): string;
}

export interface Cookie {
  name: string;
  value: string;
  /** 0 deletes the cookie; undefined keeps it until the browser is closed. */
  maxAgeSeconds?: number;
}

export type WebResponse = { status?: number; cookies?: readonly Cookie[] } & (
  | {
      page: Html;
      /** The only origin that may frame the page. */
      framedBy?: string;
      /** Replaces the policy that other pages have. */
      contentSecurityPolicy?: string;
    }
  | { redirect: string }
);

/** A page of the web application, or the target of a form. */
export interface WebRoute {
  method: 'GET' | 'POST';
  /** In Fastify's syntax. */
  path: string;
  /**
   * Whether pages are shown here, by the route itself or later by navigation in place (`elements/navigation`). Pages
   * may contain frames of other services.
   */
  showsPages?: boolean;
  handle(visit: Visit): Promise<WebResponse>;
}
