import type { FastifyRequest } from 'fastify';
import type { OperatorConsole } from '../src/operation/operator/schema.ts';
import type { Api } from './api.ts';
import type { Html } from './html.ts';

type Theme = 'auto' | 'light' | 'dark';

/** A request of a browser for a page, and what its handler needs. */
export interface Visit {
  api: Api;
  request: FastifyRequest;
  /** The requested path without its query. */
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  /** The fields of a posted form; empty for a GET. */
  form: URLSearchParams;
  /** The file of a form that has one. */
  file?: Buffer;
  theme: Theme;
  /** Only what differs from the page that is shown is asked for: see elements/navigation. */
  isFragment: boolean;
  /** The width of the tree that was chosen in this browser, in rem. */
  sidebarWidth: number;
  assets: AssetUrls;
  /** The service's own address, without a slash at the end. */
  publicUrl: string;
  /** Whether there is a mail server; without one messages are in the log of the service. */
  hasMail: boolean;
  /** Whether plans can be paid for here. */
  hasPayments: boolean;
  /** The name of the session cookie. */
  sessionCookie: string;
  /** undefined where the configuration names no operators. */
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
      /** The one origin that may show it in a frame. */
      framedBy?: string;
      /** Replaces the policy of all other pages. */
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
   * Pages are shown here, by the route itself or later in place of what it shows (`elements/navigation`), and so may be frames of
   * other services.
   */
  showsPages?: boolean;
  handle(visit: Visit): Promise<WebResponse>;
}
