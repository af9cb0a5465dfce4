import { randomUUID } from 'node:crypto';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { png } from './pictures.ts';
import type { RawRequest } from './raw-http.ts';

/** A value for every path parameter of the API, by its name. */
export interface Ids {
  [name: string]: string;
  workspace_id: string;
  organization_id: string;
  wiki_id: string;
  membership_id: string;
  invitation_id: string;
  user_id: string;
  key_id: string;
  upload_id: string;
  file_id: string;
  job_id: string;
  source_id: string;
  page_id: string;
  page_path: string;
  session_id: string;
  attachment_id: string;
  /** The secret in the address of a picture. */
  avatar_id: string;
  autosave_id: string;
  saved_search_id: string;
  export_id: string;
  revision: string;
  from_revision: string;
  to_revision: string;
  /** The secret of a link: of an invitation, or the secret that the endpoint takes. */
  token: string;
}

export const PUBLIC_URL = 'https://wiki.example.com';

/**
 * Endpoints that cannot succeed in a world with users and without paid plans, with their answers there. Their features
 * have tests for success.
 */
const NEVER_IN_A_WORLD: Record<string, number> = {
  'POST /v1/auth/first-owner': 401,
  // The example's address is not the caller's, so that the caller is not deleted.
  'POST /v1/me/deletion': 400,
  'POST /v1/auth/email-change': 404,
  // No workspace has ever had this slug.
  'GET /v1/workspaces/lookup': 404,
  // The example is not the name of the workspace, so that it is not deleted.
  'POST /v1/workspaces/:workspace_id/deletion': 400,
  'POST /v1/me/deleted-workspaces/restore': 404,
  // Callers cannot remove themselves.
  'DELETE /v1/widgets/profile/members/:membership_id': 403,
  ...Object.fromEntries(
    ['checkout', 'change', 'cancel', 'resume', 'portal'].map((verb) => [
      `POST /v1/organizations/:organization_id/billing/${verb}`,
      409,
    ]),
  ),
  'POST /v1/widgets/enterprise/billing/checkout': 409,
  'POST /v1/webhooks/stripe': 404,
};

export function success(endpoint: Endpoint): number {
  return NEVER_IN_A_WORLD[nameOf(endpoint)] ?? endpoint.status ?? 200;
}

export type Properties = Record<string, TSchema & { type?: string | string[]; default?: unknown }>;

const BOUNDARY = 'x-boundary-x';

export function propertiesOf(schema: unknown): Properties {
  return (schema as { properties?: Properties } | undefined)?.properties ?? {};
}

export function requiredOf(schema: unknown): string[] {
  return (schema as { required?: string[] } | undefined)?.required ?? [];
}

/** Returns a name for messages, such as `PATCH /v1/wikis/:wiki_id`. */
export function nameOf(endpoint: Endpoint): string {
  return `${endpoint.method} ${endpoint.path}`;
}

/** Returns the parameters of the path in order: the first one names the container, the others objects in it. */
export function pathParams(endpoint: Endpoint): string[] {
  return [...endpoint.path.matchAll(/[:*]([a-z_]+)/g)].map((match) => match[1] ?? '');
}

/**
 * Returns the parameters whose objects must exist. The last id of a PUT is chosen by the caller, among the caller's own
 * objects only, except for a page: an unused id, or an id of another caller, creates an object.
 */
export function existingParams(endpoint: Endpoint): string[] {
  const params = pathParams(endpoint);
  const last = params.at(-1);
  const isMade = endpoint.method === 'PUT' && last !== 'page_id' && endpoint.path.endsWith(`:${last}`);
  return isMade ? params.slice(0, -1) : params;
}

export function pathOf(endpoint: Endpoint, ids: Ids): string {
  return endpoint.path.replace(/([:*])([a-z_]+)/g, (_, mark: string, name: string) => {
    const id = ids[name];
    if (id === undefined)
      throw new Error(`test/tenants.ts knows no ${name}, which ${nameOf(endpoint)} has: add one to idsOf().`);
    return mark === '*' ? id.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(id);
  });
}

/** Returns the body of the endpoint's example with existing ids, and new values for unique fields. */
export function validBody(endpoint: Endpoint, ids: Ids): Record<string, unknown> {
  const body = { ...(endpoint.example.body as Record<string, unknown>) };
  if (endpoint.path.endsWith(':saved_search_id')) body.name = `Search fresh ${randomUUID()}`;
  if ('slug' in body) body.slug = `s-${randomUUID()}`;
  for (const name of Object.keys(body)) if (name in ids) body[name] = ids[name];
  if ('grants' in body) body.grants = [{ user_id: ids.user_id, level: 'read' }];
  if ('email' in body) body.email = ids.email ?? `${randomUUID()}@example.com`;
  return body;
}

/** Returns the required query parameters of the endpoint as a query string. */
export function validQuery(endpoint: Endpoint, ids: Ids): string {
  const properties = propertiesOf(endpoint.query);
  const needed = requiredOf(endpoint.query).filter((name) => !('default' in (properties[name] ?? {})));
  return needed.length === 0 ? '' : `?${needed.map((name) => `${name}=${ids[name] ?? 'word'}`).join('&')}`;
}

/** Returns the header that a browser sends from a page that shows a widget; no header for other endpoints. */
export function originOf({ access }: Endpoint): Record<string, string> {
  return access.on === 'widget' ? { origin: PUBLIC_URL } : {};
}

export function validRequest(endpoint: Endpoint, ids: Ids, token?: string): RawRequest {
  const request: RawRequest = {
    method: endpoint.method,
    path: pathOf(endpoint, ids) + validQuery(endpoint, ids),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...originOf(endpoint),
    },
  };
  if (endpoint.consumes === 'multipart') return withMultipart(request, 'note.md', `# Note ${randomUUID()}\n`);
  if (endpoint.consumes === 'bytes') return withBytes(request, 'x');
  if (endpoint.consumes === 'picture') return withBody(request, png(), 'image/png');
  return endpoint.body ? withJson(request, JSON.stringify(validBody(endpoint, ids))) : request;
}

export function withJson(request: RawRequest, body: string | Buffer, type = 'application/json'): RawRequest {
  return withBody(request, body, type);
}

/** Returns the request with a body of another content type; '' sends no type. */
export function withBody(request: RawRequest, body: string | Buffer, type: string): RawRequest {
  const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
  return { ...request, headers: { ...headers, ...(type !== '' && { 'content-type': type }) }, body };
}

function withBytes(request: RawRequest, bytes: string): RawRequest {
  const sent = withBody(request, bytes, 'application/offset+octet-stream');
  return { ...sent, headers: { ...sent.headers, 'tus-resumable': '1.0.0', 'upload-offset': '0' } };
}

function withMultipart(request: RawRequest, filename: string, content: string): RawRequest {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="${filename}"\r\n\r\n`;
  return withBody(request, `${head}${content}\r\n--${BOUNDARY}--\r\n`, `multipart/form-data; boundary=${BOUNDARY}`);
}
