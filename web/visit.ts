import type { FastifyRequest } from 'fastify';
import type { Api } from './api.ts';
import type { Html } from './html.ts';

export type Theme = 'auto' | 'light' | 'dark';

/** Somebody's browser asks for a page. */
export interface Visit {
  api: Api;
  request: FastifyRequest;
  /** The path as it was asked for, without its query. */
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  /** The fields of a form that was sent; empty for a read. */
  form: URLSearchParams;
  theme: Theme;
  assets: AssetUrls;
  /** Where people reach the service, without a slash at the end. */
  publicUrl: string;
  /** The name of the cookie that stands for a session. */
  sessionCookie: string;
}

export interface AssetUrls {
  /** The address of a file that was made for browsers: style.css, reader.js, … */
  url(name: string): string;
}

export interface Cookie {
  name: string;
  value: string;
  /** 0 takes the cookie away; undefined: until the browser is closed. */
  maxAgeSeconds?: number;
}

export type WebResponse = { status?: number; cookies?: readonly Cookie[] } & (
  | {
      page: Html;
      /** The one site that may show it in a frame. */
      framedBy?: string;
      /** Its own policy in place of that of all pages. */
      contentSecurityPolicy?: string;
    }
  | { redirect: string }
);

/** A page of the web application, or what a form of one does. */
export interface WebRoute {
  method: 'GET' | 'POST';
  /** As in the router. */
  path: string;
  /** The form may hold files, which `run` hands on unread. */
  takes?: 'files';
  handle(visit: Visit): Promise<WebResponse>;
}
