import type { Readable } from 'node:stream';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Access } from '../access/access-rule.ts';
import type { EventType } from '../access/audit-record.ts';
import type { Credential } from '../access/credential.ts';
import type { AuthorizedDb } from '../access/guard.ts';
import type { RateLimited } from '../access/limits/rate-limit-policies.ts';
import type { Sql } from '../db/sql.ts';
import type { ListOrder, ListPage } from './list-paging.ts';
import type { ReceivedFile } from './multipart.ts';
import type { Services } from './services.ts';
import type { STREAM_TYPES } from './stream-types.ts';

/** The origin of a request. */
export interface Origin {
  address: string;
  /** At most 256 characters; '' if the client sent none. */
  user_agent: string;
}

/** The argument of `run`. `params`, `query` and `body` match their schemas. */
export interface Context<Params, Query, Body> extends AuthorizedDb {
  params: Params;
  query: Query;
  /** For an endpoint with `paging`: the requested records. */
  paging: ListPage;
  body: Body;
  credential: Credential;
  origin: Origin;
  /** If-Match of the request: the state on which a write is based; undefined if the client sent none. */
  if_match: string | undefined;
  /** ETags of the responses that the client has; `*` matches any. */
  known_tags: readonly string[];
  /** The entry of the endpoint's `representations` that will be sent; undefined for JSON. */
  media_type: string | undefined;
  /** Returns a header in the endpoint's `requestHeaders`; undefined if the client did not send it. */
  header(name: string): string | undefined;
  /** The files in the body of an endpoint that consumes `multipart`. They are already durable. */
  files: readonly ReceivedFile[];
  /** The other fields of such a body. They are not validated. */
  fields: Readonly<Record<string, string>>;
  /** The body of an endpoint that consumes `bytes` or a `picture`. */
  bytes: Readable;
  /** The ID that a new workspace must get, for endpoints with `createsWorkspace`; otherwise "". */
  new_workspace_id: string;
  /** Sets headers of the response to a GET; the endpoint lists them in `replyHeaders`. */
  setHeaders(headers: Record<string, string>): void;
  /**
   * Returns a signal that is aborted when the client disconnects before the response, or when the time budget is used
   * up.
   */
  abandoned(): AbortSignal;
  services: Services;
}

type Empty = TObject<Record<never, TSchema>>;

/**
 * A reply whose JSON the database wrote, in pieces. For lists so long that parsing and serializing their rows would
 * take most of the time, and sending them at once would block other requests. Sent unchanged, so the statement must
 * return exactly the fields of the schema, and `run` sets the ETag.
 */
export class JsonText {
  readonly pieces: readonly Buffer[];
  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }
}

/** Another format of the same reply, chosen by `Accept`. `params` is undefined for the example in the documentation. */
type Representation<Reply> = (reply: Reply, params?: Record<string, string>) => string | Moved;

/** Redirects a browser (308) instead of sending the representation. */
export class Moved {
  readonly to: string;
  constructor(to: string) {
    this.to = to;
  }
}

/** Further options of a multipart body. */
interface FormDefinition<Params> {
  /** Fields other than files, for openapi.json. */
  fields?: Record<string, TSchema>;
  /**
   * If the body may be JSON instead of a form: the reply to the form. openapi.json describes only the form here,
   * because client generators expect one media type per operation; the JSON has its own operation.
   */
  reply?: TSchema;
  /** Accepts a single file. An archive may be as large as a whole upload. */
  file?: 'attachment' | 'archive';
  /** A statement that returns a row if the target of the files exists. Runs before any byte is read. */
  target?: (params: Params) => Sql;
}

/**
 * Returned by a GET if the client already has the response: 304. `run` has set the header `etag`, as for a full
 * response, and no other ETag is added.
 */
export class NotModified {}

interface EndpointDefinition<
  Params extends TObject<TProperties> = Empty,
  Query extends TObject<TProperties> = Empty,
  Body extends TSchema = Empty,
  Reply extends TSchema = TSchema,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** As in the router: `:name` is a segment, `*name` is the rest of the path. */
  path: string;
  /** The effect of the endpoint in two to five words. */
  summary: string;
  description?: string;
  access: Access;
  /**
   * false: takes no Idempotency-Key, because some of its refusals must be recorded (a counted guess, an ended session),
   * and the transaction of response and key would roll that back. Includes all endpoints that anyone may call.
   */
  idempotent?: false;
  /** The business event of a write: target, dot, action in the past tense. */
  event?: EventType;
  /** Refused before other requests when the service is overloaded. */
  canWait?: true;
  /** A read that keeps the process or the database busy; few per workspace run at once. */
  isHeavy?: true;
  /**
   * Works while the workspace is read-only because of an unpaid invoice: it pays, reads, removes access or ends work.
   */
  whenUnpaid?: true;
  /** A rate limit in addition to the general one. */
  limit?: RateLimited['limit'];
  givesBack?: RateLimited['givesBack'];
  params?: Params;
  query?: Query;
  /** The order of a list with `limit`, for cursors. */
  paging?: ListOrder<Static<Query>, Static<Reply>>;
  body?: Body;
  /**
   * `multipart`: the body is a stream of files, or JSON if `body` has a schema too. `bytes`: a stream of bytes whose
   * position is in the request's headers (tus). `picture`: the bytes of a picture.
   */
  consumes?: keyof typeof STREAM_TYPES;
  form?: FormDefinition<Static<Params>>;
  /** The body is JSON with a signature over its bytes. `body` is then a Buffer that has not been parsed. */
  signedBody?: true;
  /** Request headers of this endpoint, with their descriptions. */
  requestHeaders?: Record<string, string>;
  /** The body may contain the text of a page, so the limit for such texts applies. */
  bodyLimit?: 'markdown';
  /** Headers of every response, including refusals. */
  responseHeaders?: Record<string, string>;
  /** Headers that `run` may set, with their descriptions. */
  replyHeaders?: Record<string, string>;
  /** Headers of a successful response. */
  headers?: (reply: Static<Reply>) => Record<string, string>;
  /** May create a workspace; row-level security then makes the new workspace visible too. */
  createsWorkspace?: true;
  /** Returns the secret of the request's invitation, which makes the invitation's workspace visible. */
  invitation?: (input: { query: Static<Query>; body: Static<Body> }) => string;
  /** Default: 200. */
  status?: 200 | 201 | 204;
  /**
   * The schema of the JSON reply, or `Bytes` for a stored file, `Download` for a generated file, `EventStream` for a
   * stream of states.
   */
  reply: Reply;
  /** Error codes other than 401, 403, 404, 422 and 500. */
  errors?: readonly string[];
  /**
   * Adds an ETag, and answers 304 to a client that has it. The function returns a prefix (the revision, if there is
   * one) for the hash of the response, so that If-Match can name it.
   */
  etag?: (reply: Static<Reply>) => string;
  representations?: Record<string, Representation<Static<Reply>>>;
  /** Shown in openapi.json; validated by a test. */
  example: { body?: Static<Body>; reply: Static<Reply> };
  run(context: Context<Static<Params>, Static<Query>, Static<Body>>): Promise<Static<Reply> | JsonText | NotModified>;
}

// `any`, because the list contains endpoints of every shape; each is typed where it is defined.
export type Endpoint = EndpointDefinition<any, any, any, any>;

/** Returns whether the endpoint takes an Idempotency-Key. */
export function isIdempotent({ method, access, idempotent }: Endpoint): boolean {
  return (method === 'POST' || method === 'PATCH') && access.on !== 'anyone' && idempotent !== false;
}

/**
 * Returns whether the endpoint is refused with 402 while its workspace is read-only, which applies to all writes there.
 */
export function needsPayment({ method, access, whenUnpaid }: Endpoint): boolean {
  const isWrite = method !== 'GET' && method !== 'OPTIONS';
  return isWrite && whenUnpaid !== true && (access.on === 'workspace' || access.on === 'wiki');
}

/** Defines an endpoint: a value from which the server, openapi.json, access.txt and tests are generated. */
export function endpoint<
  Params extends TObject<TProperties> = Empty,
  Query extends TObject<TProperties> = Empty,
  Body extends TSchema = Empty,
  Reply extends TSchema = TSchema,
>(definition: EndpointDefinition<Params, Query, Body, Reply>): Endpoint {
  return definition;
}
