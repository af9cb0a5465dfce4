import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperatorConsole } from '../src/operation/operator/schema.ts';
import type { Workspace } from '../src/organization/workspaces/schema.ts';
import { foreignForm } from '../src/platform/access/before-sign-in.ts';
import { ApiError } from '../src/platform/core/errors.ts';
import { browserCookieName, cookieOf, isFromOurPages } from '../src/platform/http/browser-cookie.ts';
import { toApiError } from '../src/platform/http/to-api-error.ts';
import { apiFor, Problem } from './api.ts';
import { type Assets, openAssets } from './assets.ts';
import { compressed } from './compressed.ts';
import { FRAME_HOSTS } from './elements/embeds/services.ts';
import { errorsPage } from './pages/developers/errors.ts';
import { gettingStartedPage } from './pages/developers/getting-started.ts';
import { referencePage } from './pages/developers/reference.ts';
import { problemPage } from './pages/problem.ts';
import { styleguide } from './pages/styleguide.ts';
import { ROUTES } from './routes.ts';
import { sidebarWidth } from './sidebar.ts';
import type { Cookie, Visit, WebResponse, WebRoute } from './visit.ts';

export interface WebOptions {
  publicUrl: string;
  /** The size limit of a form's body, in bytes. */
  formBytes: number;
  /** Whether a mail server is configured; without one, messages go to the log of the service. */
  hasMail: boolean;
  /** Whether users can pay for plans here. */
  hasPayments: boolean;
  /** Whether to serve the style guide, a page with every component. */
  styleguide: boolean;
  /** The operations of the operators' pages; undefined if no operators are configured. */
  operatorConsole: OperatorConsole | undefined;
  /** Returns the OpenAPI description for the reference at /docs, as JSON. */
  reference(): string;
}

const FRAME_SOURCES = FRAME_HOSTS.map((host) => ` https://${host}`).join('');

/** Pages that programs may read as well: they are served whatever content type the request accepts. */
const DEVELOPER_PAGES: Record<string, (visit: Visit) => WebResponse | Promise<WebResponse>> = {
  '/docs': referencePage,
  '/docs/errors': errorsPage,
  '/docs/getting-started': gettingStartedPage,
};

/** The query parameter by which the navigation script requests only the parts of a page that change. */
const FRAGMENT = 'fragment';

/**
 * Maximum length of the address of a redirect. Programs and proxies refuse responses with headers over 16 KiB, and no
 * page has such a long address.
 */
const LONGEST_ADDRESS = 8_192;

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Adds the web application's routes to the API's. Every page gets its data by calling the API in this process. The
 * routes match only requests for pages (`wantsPage`), so that a program with a mistyped address gets the API's error.
 */
export function registerWeb(app: FastifyInstance, options: WebOptions): void {
  const assets = openAssets();
  app.addConstraintStrategy({
    name: 'reads',
    storage: () => {
      const stored = new Map<unknown, unknown>();
      return { get: (key) => (stored.get(key) as never) ?? null, set: (key, value) => void stored.set(key, value) };
    },
    deriveConstraint: (request) => (wantsPage(request) ? 'html' : undefined),
    validate: () => undefined,
  });
  app.register(async (web) => {
    web.removeContentTypeParser(['multipart/form-data', '*']);
    web.addContentTypeParser(FORM_TYPE, { parseAs: 'string', bodyLimit: options.formBytes }, (_request, body, done) =>
      done(null, new URLSearchParams(body as string)),
    );
    web.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));
    web.setErrorHandler((error, request, reply) => sendProblem(web, assets, options, error, request, reply));
    for (const route of options.styleguide ? [...ROUTES, styleguide] : ROUTES) {
      web.route({
        method: route.method,
        url: route.path,
        constraints: { reads: 'html' },
        handler: async (request, reply) => {
          if (route.method === 'POST' && !isFromOurPages(request.raw, options.publicUrl)) {
            throw foreignForm(request.raw, options.publicUrl);
          }
          const visit = visitOf(web, assets, options, request);
          // No workspace has this slug. A browser that opens a wrong address of the API gets a 404 instead of a
          // redirect to the sign-in.
          if (visit.params.workspace === 'v1') throw noSuchRoute();
          return send(reply, options, await runRoute(route, visit), visit.isFragment, route.showsPages);
        },
      });
    }
  });
  for (const [path, page] of Object.entries(DEVELOPER_PAGES)) {
    app.get(path, async (request, reply) => send(reply, options, await page(visitOf(app, assets, options, request))));
  }
  app.get('/docs/openapi.json', async (request, reply) => {
    const { body, encoding } = await compressed(options.reference(), request);
    if (encoding) reply.header('content-encoding', encoding);
    return reply
      .header('vary', 'authorization, accept-encoding, sec-fetch-site')
      .type('application/json; charset=utf-8')
      .send(body);
  });
  serveWidgets(app, assets);
  app.get('/assets/:version/*', async (request, reply) => {
    const { version = '', '*': name = '' } = request.params as Record<string, string>;
    const file = await assets.read(version, name, request.headers['accept-encoding'] ?? '');
    if (!file) throw noSuchFile();
    reply.headers({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': file.type,
      vary: 'accept-encoding',
      // The files are public. The frames of diagrams and PDFs have opaque origins, for which every file is
      // cross-origin.
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      ...(file.encoding && { 'content-encoding': file.encoding }),
      // A worker follows its own policy, not the page's policy. This worker only calls the API.
      ...(name === 'draft-worker.js' && { 'content-security-policy': "default-src 'none'; connect-src 'self'" }),
    });
    return reply.send(file.bytes);
  });
}

/**
 * Returns whether a request wants a page. Browsers accept HTML. curl, uptime checks and bots for link previews accept
 * anything, and get the same pages as people. JSON is the answer to requests with a token, requests at the API's
 * addresses or at addresses of files such as robots.txt, and requests without an Accept header.
 */
function wantsPage({ method = '', url = '', headers }: IncomingMessage): boolean {
  const accept = headers.accept?.trim() ?? '';
  if (accept.includes('text/html')) return true;
  if (headers.authorization !== undefined) return false;
  return (method === 'GET' || method === 'HEAD') && /^\*\/\*\s*(?:;|$)/.test(accept) && PAGE.test(url);
}

/** Addresses that may be pages: slugs are lower-case letters, digits and hyphens. */
const PAGE = /^\/(?:$|\?|(?!v1(?:[/?]|$))[a-z0-9-]+(?:[/?]|$))/;

function noSuchFile(): ApiError {
  return new ApiError('not_found', 'There is no such file.', { detail: 'Not Found' });
}

/**
 * Serves the modules of the widgets: a module for all, and one for each, which share their common parts. Their
 * addresses have no version, because pages of other sites refer to them. They are public: any page may load them, and
 * the widget token decides which data the API returns.
 */
function serveWidgets(app: FastifyInstance, assets: Assets): void {
  const serve = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const etag = `W/"${assets.version}"`;
    const file = await assets.read(assets.version, name, request.headers['accept-encoding'] ?? '');
    if (!file) throw noSuchFile();
    reply.headers({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=300',
      vary: 'accept-encoding',
      etag,
    });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    reply.headers({ 'content-type': file.type, ...(file.encoding && { 'content-encoding': file.encoding }) });
    return reply.send(file.bytes);
  };
  app.get('/widgets.js', (request, reply) => serve('widgets.js', request, reply));
  app.get<{ Params: { name: string } }>('/widgets/:name', (request, reply) =>
    serve(`widgets/${request.params.name}`, request, reply),
  );
}

async function runRoute(route: WebRoute, visit: Visit): Promise<WebResponse> {
  try {
    return await route.handle(visit);
  } catch (error) {
    const moved = error instanceof Problem && error.status === 404 && (await movedAddress(visit));
    // Another workspace may take the slug later, so browsers must not cache this redirect as permanent.
    if (moved) return { redirect: moved, status: 307 };
    // After the sign-in the user returns to the requested page, or to the page of the form.
    if (!(error instanceof Problem) || error.status !== 401 || route.path.startsWith('/sign-in')) throw error;
    const wanted = route.method === 'GET' ? visit.request.url : visit.path;
    return { redirect: `/sign-in?next=${encodeURIComponent(wanted)}` };
  }
}

/** Returns the address in the workspace that had this slug before; undefined if no workspace of the user had it. */
async function movedAddress({ api, params, request }: Visit): Promise<string | undefined> {
  const former = params.workspace;
  if (former === undefined || !request.url.startsWith(`/${former}`)) return undefined;
  try {
    const { slug } = await api.get<Workspace>(`/v1/workspaces/lookup?${new URLSearchParams({ slug: former })}`);
    return slug === former ? undefined : `/${slug}${request.url.slice(former.length + 1)}`;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function visitOf(
  app: FastifyInstance,
  assets: Assets,
  { publicUrl, hasMail, hasPayments, operatorConsole }: WebOptions,
  request: FastifyRequest,
): Visit {
  const queryStart = request.url.indexOf('?');
  const theme = cookieOf(request.raw, 'theme');
  const query = new URLSearchParams(queryStart < 0 ? '' : request.url.slice(queryStart + 1));
  const isFragment = query.get(FRAGMENT) === 'page' && request.raw.headers['sec-fetch-mode'] !== 'navigate';
  // Links of the page must not contain it.
  query.delete(FRAGMENT);
  return {
    api: apiFor(app, request, browserCookieName(publicUrl)),
    request,
    path: queryStart < 0 ? request.url : request.url.slice(0, queryStart),
    params: (request.params ?? {}) as Record<string, string>,
    query,
    form: request.body instanceof URLSearchParams ? request.body : new URLSearchParams(),
    isFragment,
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    sidebarWidth: sidebarWidth(cookieOf(request.raw, 'sidebar')),
    assets,
    publicUrl,
    hasMail,
    hasPayments,
    sessionCookie: browserCookieName(publicUrl),
    operatorConsole,
  };
}

/**
 * Allows only our own scripts and styles; images, sounds and videos from any host, because pages may embed them; and in
 * pages, frames of a few services.
 */
function contentSecurityPolicy(framedBy = "'none'", showsPages = false): string {
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http: data: blob:; media-src 'self' https: http:; font-src 'self'; " +
    `connect-src 'self'; frame-src 'self'${showsPages ? FRAME_SOURCES : ''}; form-action 'self'; base-uri 'self'; frame-ancestors ${framedBy}`
  );
}

async function send(
  reply: FastifyReply,
  { publicUrl }: WebOptions,
  shown: WebResponse,
  isFragment = false,
  showsPages = false,
) {
  reply.headers({
    'content-security-policy':
      'page' in shown
        ? (shown.contentSecurityPolicy ?? contentSecurityPolicy(shown.framedBy, showsPages))
        : contentSecurityPolicy(),
    // Not no-referrer: browsers would then omit the Origin of forms, and forms of other sites could not be refused by
    // it.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    vary: 'accept, accept-encoding, authorization, cookie, sec-fetch-site',
  });
  for (const cookie of shown.cookies ?? []) reply.header('set-cookie', cookieText(cookie, publicUrl));
  if ('redirect' in shown) return reply.redirect(addressOf(shown.redirect), shown.status ?? 303);
  if (isFragment && (shown.status ?? 200) === 200) {
    const etag = `W/"${createHash('sha256').update(shown.page.text).digest('base64url').slice(0, 22)}"`;
    // The browser may cache parts of pages, but must revalidate them. Whole pages are not cached at all, because Back
    // would show them after the sign-out without a request.
    reply.headers({ 'cache-control': 'private, no-cache', etag });
    if (reply.request.headers['if-none-match'] === etag) return reply.code(304).send();
  }
  const { body, encoding } = await compressed(shown.page.text, reply.request);
  if (encoding) reply.header('content-encoding', encoding);
  return reply
    .code(shown.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(body);
}

function addressOf(redirect: string): string {
  // A header may contain ASCII only.
  const address = redirect.replace(/[^\p{ASCII}]+/gu, encodeURIComponent);
  return address.length > LONGEST_ADDRESS ? '/' : address;
}

function cookieText({ name, value, maxAgeSeconds }: Cookie, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`;
}

function noSuchRoute(): ApiError {
  return new ApiError('not_found', 'There is no such route.', { detail: 'Not Found' });
}

async function sendProblem(
  app: FastifyInstance,
  assets: Assets,
  options: WebOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const refused = error instanceof Problem ? undefined : toApiError(error);
  const problem = refused ? problemOf(refused, request) : (error as Problem);
  if (refused?.status === 403) logRefusal(refused, request);
  if (!(error instanceof Problem) && problem.status >= 500) {
    request.log.error({ err: error, request_id: request.id }, 'failed to render a page');
  }
  const visit = visitOf(app, assets, options, request);
  const cookies =
    problem.status === 401 ? [{ name: browserCookieName(options.publicUrl), value: '', maxAgeSeconds: 0 }] : [];
  return send(reply, options, { ...problemPage(visit, problem), cookies });
}

/** Logs a form that was refused before any endpoint handled it. */
function logRefusal({ status, code, message, logged }: ApiError, request: FastifyRequest): void {
  const endpoint = `${request.method} ${request.routeOptions.url ?? ''}`;
  request.log.warn({ request_id: request.id, endpoint, status, code, address: request.ip, ...logged }, message);
}

function problemOf({ status, code, message }: ApiError, { id }: FastifyRequest): Problem {
  return new Problem(status, { error: code, message, request_id: id });
}
