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
  /** The secret of a link: an invitation's, or the one that the endpoint takes. */
  token: string;
}

/** The public address of the service of generated tests. */
export const PUBLIC_URL = 'https://wiki.example.com';

/** Endpoints that cannot succeed in a world with users and without paid plans, and their answers there; their own tests cover more. */
const NEVER_IN_A_WORLD: Record<string, number> = {
  'POST /v1/auth/first-owner': 401,
  // Not the address of the caller, who is to stay.
  'POST /v1/me/deletion': 400,
  'POST /v1/auth/email-change': 404,
  // No workspace has had this slug.
  'GET /v1/workspaces/lookup': 404,
  // Not the name of the workspace, which is to stay.
  'POST /v1/workspaces/:workspace_id/deletion': 400,
  'POST /v1/me/deleted-workspaces/restore': 404,
  // The callers of a world stay in it.
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

/** The status of a valid request to the endpoint. */
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

/** `PATCH /v1/wikis/:wiki_id`, for messages. */
export function nameOf(endpoint: Endpoint): string {
  return `${endpoint.method} ${endpoint.path}`;
}

/** The parameters of the path in order: the first one names the container, the others objects in it. */
export function pathParams(endpoint: Endpoint): string[] {
  return [...endpoint.path.matchAll(/[:*]([a-z_]+)/g)].map((match) => match[1] ?? '');
}

/**
 * The parameters of objects that must exist. The last of a PUT, but for a page, is an id that the caller makes up, among their own
 * objects alone: an id of other callers, or an unused one, creates an object.
 */
export function existingParams(endpoint: Endpoint): string[] {
  const params = pathParams(endpoint);
  const last = params.at(-1);
  const isMade = endpoint.method === 'PUT' && last !== 'page_id' && endpoint.path.endsWith(`:${last}`);
  return isMade ? params.slice(0, -1) : params;
}

/** The path with its parameters filled in. */
export function pathOf(endpoint: Endpoint, ids: Ids): string {
  return endpoint.path.replace(/([:*])([a-z_]+)/g, (_, mark: string, name: string) => {
    const id = ids[name];
    if (id === undefined)
      throw new Error(`test/tenants.ts knows no ${name}, which ${nameOf(endpoint)} has: add one to idsOf().`);
    return mark === '*' ? id.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(id);
  });
}

/** The body of the endpoint's example, with existing ids, and with a new value where values are unique. */
export function validBody(endpoint: Endpoint, ids: Ids): Record<string, unknown> {
  const body = { ...(endpoint.example.body as Record<string, unknown>) };
  if (endpoint.path.endsWith(':saved_search_id')) body.name = `Search fresh ${randomUUID()}`;
  if ('slug' in body) body.slug = `s-${randomUUID()}`;
  for (const name of Object.keys(body)) if (name in ids) body[name] = ids[name];
  if ('email' in body) body.email = ids.email ?? `${randomUUID()}@example.com`;
  return body;
}

/** The required query parameters of the endpoint. */
export function validQuery(endpoint: Endpoint, ids: Ids): string {
  const properties = propertiesOf(endpoint.query);
  const needed = requiredOf(endpoint.query).filter((name) => !('default' in (properties[name] ?? {})));
  return needed.length === 0 ? '' : `?${needed.map((name) => `${name}=${ids[name] ?? 'word'}`).join('&')}`;
}

/** The header that a browser sends from a page which shows a widget; none for other endpoints. */
export function originOf({ access }: Endpoint): Record<string, string> {
  return access.on === 'widget' ? { origin: PUBLIC_URL } : {};
}

/** A request that succeeds for a permitted caller. */
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

/** The request with this JSON text as its body. */
export function withJson(request: RawRequest, body: string | Buffer, type = 'application/json'): RawRequest {
  return withBody(request, body, type);
}

/** The request with a body of another content type; '' sends no type. */
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
