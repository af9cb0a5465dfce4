import type { TSchema } from 'typebox';
import type { Access } from './access.ts';
import { TYPE_OF } from './body-parsers.ts';
import { Bytes } from './bytes.ts';
import { type Endpoint, isRepeatable } from './endpoint.ts';
import { type ErrorCode, STATUS_OF } from './errors.ts';
import { Events } from './events.ts';

/** The version of the V1 API; within /v1 it stays. */
const API_VERSION = '0.4.0';

const request_id = 'req_01jd8w3v6xf3e8h2k9m4n5p6w1';

const REASONS: Record<number, { description: string; message: string; code: ErrorCode }> = {
  400: {
    description: 'An identifier, the query or the body cannot be accepted.',
    code: 'invalid_request',
    message: 'The body is not valid JSON.',
  },
  401: {
    description: 'The credential is missing, expired or invalid.',
    code: 'unauthorized',
    message: 'Send a valid access token or API key: Authorization: Bearer <token>.',
  },
  403: {
    description: 'The caller may not do that.',
    code: 'forbidden',
    message: 'This credential may not do that here.',
  },
  404: { description: 'The path names nothing.', code: 'not_found', message: 'There is no such resource.' },
  409: {
    description: 'The write conflicts with the present state.',
    code: 'conflict',
    message: 'This conflicts with what is there.',
  },
  412: {
    description: 'The request speaks another version of the protocol; Tus-Version names the one that is spoken here.',
    code: 'precondition_failed',
    message: 'Send Tus-Resumable: 1.0.0.',
  },
  413: {
    description: 'The body is too large.',
    code: 'payload_too_large',
    message: 'The body is larger than this endpoint takes.',
  },
  415: {
    description: 'The body has another type than the endpoint takes.',
    code: 'unsupported_media_type',
    message: 'Send the body as Content-Type: application/json.',
  },
  416: {
    description: 'The range is not in the file; Content-Range says how large it is.',
    code: 'range_not_satisfiable',
    message: 'The file has 100 bytes, and the range begins behind them.',
  },
  429: {
    description: 'Too many requests; Retry-After says when to try again.',
    code: 'rate_limited',
    message: 'Too many requests. Try again in 42 seconds.',
  },
  460: {
    description: 'The bytes are not those that the checksum is of; none of them was kept.',
    code: 'checksum_mismatch',
    message: 'The bytes do not have the checksum of Upload-Checksum. Send them again.',
  },
  503: {
    description: 'Something that the service needs does not answer just now; Retry-After says when to try again.',
    code: 'database_unavailable',
    message: 'The database does not answer just now. Try again in a moment.',
  },
};

const ErrorSchema = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', description: 'For programs: one of a list that only grows.' },
    message: { type: 'string', description: 'For developers.' },
    request_id: { type: 'string', description: 'To be quoted when reporting a failure; also in X-Request-Id.' },
  },
};

const ValidationErrorSchema = {
  type: 'object',
  required: ['detail', 'error', 'message', 'request_id'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type'],
        properties: {
          loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          msg: { type: 'string' },
          type: { type: 'string' },
          input: {},
          ctx: { type: 'object' },
        },
      },
    },
    ...ErrorSchema.properties,
  },
};

/** Of every answer, where limits are on. */
const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description: 'The limits that the request is under, each with its quota (q) in a window of so many seconds (w).',
    schema: { type: 'string' },
    example: '"general";q=600;w=60, "search";q=120;w=60',
  },
  RateLimit: {
    description: 'What is left of each (r), and the seconds until its window ends (t).',
    schema: { type: 'string' },
    example: '"general";r=599;t=42, "search";r=119;t=42',
  },
};
const RETRY_AFTER = {
  'Retry-After': {
    description: 'The seconds after which trying again has a chance.',
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
};

/** Of POST and PATCH by a caller who is known. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A request that is sent again with the same key within 24 hours is answered as the first one was and does nothing.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** What the groups of endpoints are about. */
const TAGS: Record<string, string> = {
  onboarding: 'The first call of a client.',
  overview: 'What the caller has.',
  workspaces: 'Workspaces, also called organizations: they own everything else.',
  members: 'Who belongs to a workspace, in which role, and the seats.',
  invitations: 'How people come to belong to a workspace.',
  'api-keys': 'Credentials for programs.',
  'audit-events': 'Who did what in a workspace.',
  me: "The caller's own things.",
  auth: 'Signing in and out.',
  'widget-token': 'Short tokens for widgets that are embedded in other sites.',
  widgets: 'What the widgets show.',
  'widget-origins': 'The sites that may show the widgets.',
  'widget-frames': 'Widgets in frames.',
  plans: 'What a workspace can be on.',
  billing: 'What a plan would cost.',
  wikis: 'Wikis of a workspace.',
  uploads: 'Files that are handed over.',
  exports: 'Archives of a wiki.',
  imports: 'Archives that become pages.',
  jobs: 'The work that makes sources and pages of uploads.',
  sources: 'What was handed over, as it can be read and searched.',
  pages: 'What readers see and writers write.',
  suggest: 'What may be meant by what is being typed.',
  tree: 'All pages of a wiki at once.',
  branches: 'The tree of pages, branch by branch.',
  preview: 'What a text would be as a page.',
  trash: 'Pages that were deleted and can be restored.',
  attachments: 'Pictures and files of pages.',
};

/** The OpenAPI 3.1 description, computed from the list of endpoints. */
export function describeApi(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/[:*]([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ibid: Hosted Wiki Workspace API',
      version: API_VERSION,
      description: 'Hosted wikis, the workspaces (also called organizations) that own them, and all that is in them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ bearer: [] }],
    tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or an access token: of a session, or of the configured issuer.',
        },
        widget: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A widget token.' },
      },
      schemas: { Error: ErrorSchema, HTTPValidationError: ValidationErrorSchema },
      headers: { ...RATE_LIMIT_HEADERS, ...RETRY_AFTER },
      responses: sharedResponses(),
    },
  };
}

function operation(endpoint: Endpoint) {
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    description: [endpoint.description, describeAccess(endpoint.access)].filter(Boolean).join('\n\n'),
    tags: [tagOf(endpoint)],
    ...(endpoint.access.on === 'widget' && { security: [{ widget: [] }] }),
    ...(endpoint.access.on === 'anyone' && { security: [] }),
    parameters: [
      ...parameters(endpoint.params, 'path'),
      ...parameters(endpoint.query, 'query'),
      ...(isRepeatable(endpoint) ? [IDEMPOTENCY_KEY] : []),
      ...Object.entries(endpoint.reads ?? {}).map(([name, description]) => ({
        name,
        in: 'header',
        required: false,
        description,
        schema: { type: 'string' },
      })),
    ],
    ...requestBody(endpoint),
    responses: {
      ...success(endpoint),
      ...Object.fromEntries(errorStatuses(endpoint).map((code) => [code, { $ref: `#/components/responses/${code}` }])),
    },
  };
}

/** What it answers when all goes well, by status. */
function success(endpoint: Endpoint) {
  const headers = refs(RATE_LIMIT_HEADERS);
  if (endpoint.reply === Bytes) {
    const content = { '*/*': { schema: Bytes, example: 'The bytes of the file.' } };
    return {
      200: { description: 'The file. ETag is its hash; the type is found out from the bytes.', headers, content },
      206: { description: 'The part of it that `Range` asks for.', headers, content },
      304: { description: 'The client has it already, as If-None-Match says.', headers },
    };
  }
  if (endpoint.reply === Events) {
    const content = { 'text/event-stream': { schema: Events, example: 'id: …\nevent: job\ndata: {…}\n\n' } };
    return {
      200: { description: 'The present state, and each that follows.', headers, content },
      204: { description: 'The client has seen the last state, as Last-Event-ID says.', headers },
    };
  }
  const status = endpoint.status ?? 200;
  const description = status === 201 ? 'Created.' : 'Done.';
  if (status === 204) return { 204: { description, headers } };
  const others = Object.entries(endpoint.also ?? {}).map(([type, represent]) => [
    type,
    { schema: { type: 'string' }, example: represent(endpoint.example.reply) },
  ]);
  const content = {
    'application/json': { schema: endpoint.reply, example: endpoint.example.reply },
    ...Object.fromEntries(others),
  };
  return { [status]: { description, headers, content } };
}

function requestBody(endpoint: Endpoint) {
  const file = { type: 'string', format: 'binary' };
  const properties = endpoint.files_max === 1 ? { file } : { files: { type: 'array', items: file } };
  const content = {
    ...(endpoint.takes === 'multipart' && { [TYPE_OF.multipart]: { schema: { type: 'object', properties } } }),
    ...(endpoint.takes === 'bytes' && { [TYPE_OF.bytes]: { schema: file } }),
    ...(endpoint.body && { 'application/json': { schema: endpoint.body, example: endpoint.example.body } }),
  };
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}

/** What any endpoint may answer, by what it is made of, and what it says itself. */
function errorStatuses(endpoint: Endpoint): number[] {
  const own = (endpoint.errors ?? []).map((code) => STATUS_OF[code as ErrorCode]);
  const always = [422, 429, 503];
  const ofChild = /:[a-z_]+$/.test(endpoint.path) ? [404] : [];
  const ofBody = endpoint.body ? [400, 413, 415] : endpoint.query || endpoint.params ? [400] : [];
  return [...new Set([...always, ...ofAccess(endpoint.access), ...ofChild, ...ofBody, ...own])].sort((a, b) => a - b);
}

function ofAccess(access: Access): number[] {
  if (access.on === 'anyone') return [];
  if (access.on === 'caller') return access.unrestricted || access.session ? [401, 403] : [401];
  return [401, 403, 404];
}

function parameters(
  schema: (TSchema & { properties?: Record<string, TSchema>; required?: string[] }) | undefined,
  where: string,
) {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as TSchema & { description?: string };
    const required = where === 'path' || (schema?.required?.includes(name) === true && !('default' in property));
    return { name, in: where, required, ...(description && { description }), schema: rest };
  });
}

function refs(headers: Record<string, unknown>) {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function sharedResponses() {
  const json = (schema: string, example: unknown) => ({
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example },
  });
  const errors = Object.entries(REASONS).map(([status, { description, code, message }]) => [
    status,
    {
      description,
      headers: refs({ ...RATE_LIMIT_HEADERS, ...(/429|503/.test(status) && RETRY_AFTER) }),
      content: json('Error', { error: code, message, request_id }),
    },
  ]);
  const detail = [{ type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: {} }];
  const validation = { detail, error: 'validation_error', message: 'body.name: Field required', request_id };
  return {
    ...Object.fromEntries(errors),
    422: {
      description: 'The request does not match its schema.',
      headers: refs(RATE_LIMIT_HEADERS),
      content: json('HTTPValidationError', validation),
    },
  };
}

/** An access rule in words, for openapi.json and access.txt alike. */
export function describeAccess(access: Access): string {
  switch (access.on) {
    case 'anyone':
      return 'Needs no credential.';
    case 'caller':
      return access.session ? 'Needs the access token of a session.' : 'Needs any credential.';
    case 'workspace':
      return access.permission === ''
        ? 'Needs an active membership.'
        : `Needs \`${access.permission}\` in the workspace.`;
    case 'wiki':
      return `Needs \`${access.permission}\` in the wiki's workspace${access.orCreator ? ', or to have created the wiki' : ''}.`;
    case 'widget':
      return `Needs a widget token for \`${access.widget}\`.`;
  }
}

/** `Rename a wiki` is renameWiki. */
export function operationId(endpoint: Endpoint): string {
  const words = endpoint.summary
    .replace(/'s\b/g, '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '' && !/^(a|an|the|of|its)$/i.test(word));
  return words.map((word, i) => (i === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}

function tagOf(endpoint: Endpoint): string {
  const [container = '', inside = ''] = endpoint.path
    .split('/')
    .slice(2)
    .filter((segment) => !/^[:*]/.test(segment));
  return inside in TAGS && /^(wikis|workspaces|organizations)$/.test(container) ? inside : container;
}
