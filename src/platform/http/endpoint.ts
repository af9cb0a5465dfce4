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

/** The origin of a request, as far as known. */
export interface Origin {
  address: string;
  /** At most 256 characters; '' where the client sent none. */
  user_agent: string;
}

/** The argument of `run`. `params`, `query` and `body` are valid by their schemas. */
export interface Context<Params, Query, Body> extends AuthorizedDb {
  params: Params;
  query: Query;
  /** Of an endpoint with `paging`: the records that the request asks for. */
  paging: ListPage;
  body: Body;
  credential: Credential;
  origin: Origin;
  /** The request's If-Match: the state on which a write is based; undefined where there is none. */
  if_match: string | undefined;
  /** The ETags of answers that the client has; `*` is any. */
  known_tags: readonly string[];
  /** Of the endpoint's `representations` the one that will be sent; undefined for JSON. */
  media_type: string | undefined;
  /** One of the endpoint's `requestHeaders`; undefined where the client sent none. */
  header(name: string): string | undefined;
  /** The files of an endpoint that consumes `multipart`, already durable. */
  files: readonly ReceivedFile[];
  /** The other fields of such a body, as the client sent them: not validated. */
  fields: Readonly<Record<string, string>>;
  /** The body of an endpoint that consumes `bytes` or a `picture`. */
  bytes: Readable;
  /** The id of the workspace that an endpoint with `createsWorkspace` may create; else "". */
  new_workspace_id: string;
  /** Headers of the answer to a GET: `replyHeaders` of the endpoint. */
  setHeaders(headers: Record<string, string>): void;
  /** A signal that is aborted when the client goes away before it is answered, and when the request has taken too long. */
  abandoned(): AbortSignal;
  services: Services;
}

type Empty = TObject<Record<never, TSchema>>;

/**
 * A reply as JSON that the database wrote, in pieces: for lists so long that parsing and serializing their rows would take
 * most of the time, and sending them at once would keep other requests waiting. They are sent unchanged, so their statement
 * must name exactly the fields of the schema, and `run` sets their ETag.
 */
export class JsonText {
  readonly pieces: readonly Buffer[];
  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }
}

/** Another form of the same reply, chosen by `Accept`. `params` are undefined for the example of the documentation. */
type Representation<Reply> = (reply: Reply, params?: Record<string, string>) => string | Moved;

/** The address that a browser is redirected to (308) instead. */
export class Moved {
  readonly to: string;
  constructor(to: string) {
    this.to = to;
  }
}

/** What a form takes beside the files of an upload. */
interface FormDefinition<Params> {
  /** Its fields beside the files, for openapi.json. */
  fields?: Record<string, TSchema>;
  /**
   * Of a form that may be JSON instead: the answer to the form. openapi.json describes only the form here, because generators
   * of clients expect one media type per operation; the JSON has an operation of its own.
   */
  reply?: TSchema;
  /** It takes one file; as large as a whole upload where it is an archive. */
  file?: 'attachment' | 'archive';
  /** The target of the files, as a statement that returns a row if it exists; it runs before a byte is read. */
  target?: (params: Params) => Sql;
}

/**
 * What a GET returns whose answer the client has already: 304. `run` has set the header `etag`, as it does for the whole answer, which
 * then gets no other.
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
  /** What it does, in two to five words. */
  summary: string;
  description?: string;
  access: Access;
  /**
   * false: takes no Idempotency-Key, because some of its refusals must leave a trace (a counted guess, an ended
   * session), which a transaction of answer and key would roll back. Includes all endpoints that anyone may call.
   */
  idempotent?: false;
  /** The business event of a write: the target, a dot, what happened. */
  event?: EventType;
  /** When the service has more to do than it can, it is refused before others are. */
  canWait?: true;
  /** A read that keeps the process or the database busy: few of a workspace run at once. */
  isHeavy?: true;
  /**
   * Works while the workspace is read-only because of an unpaid invoice: it pays, reads, takes away access or ends work.
   */
  whenUnpaid?: true;
  /** A rate limit in addition to the general one. */
  limit?: RateLimited['limit'];
  givesBack?: RateLimited['givesBack'];
  params?: Params;
  query?: Query;
  /** Of a list with `limit`: how it is ordered, so that it goes on by cursor. */
  paging?: ListOrder<Static<Query>, Static<Reply>>;
  body?: Body;
  /**
   * `multipart`: the body is a stream of files, or, where there is also a schema for `body`, JSON instead. `bytes`: a
   * stream of bytes whose position the request's headers give (tus). `picture`: the bytes of one.
   */
  consumes?: keyof typeof STREAM_TYPES;
  form?: FormDefinition<Static<Params>>;
  /** The body is JSON with a signature over its bytes: `body` is a Buffer, unread. */
  signedBody?: true;
  /** Request headers of this endpoint, with their descriptions. */
  requestHeaders?: Record<string, string>;
  /** The body may hold a page's text, so the limit for such texts applies. */
  bodyLimit?: 'markdown';
  /** Headers of every answer, including refusals. */
  responseHeaders?: Record<string, string>;
  /** Headers that `run` may set, with their descriptions. */
  replyHeaders?: Record<string, string>;
  /** Headers of a successful answer. */
  headers?: (reply: Static<Reply>) => Record<string, string>;
  /** It may create a workspace; row-level security then makes that one visible too. */
  createsWorkspace?: true;
  /** The secret of the request's invitation, which makes the invitation's workspace visible. */
  invitation?: (input: { query: Static<Query>; body: Static<Body> }) => string;
  /** Default: 200. */
  status?: 200 | 201 | 204;
  /**
   * The schema of the JSON; `Bytes` for an endpoint that answers a file, `Download` for one that is made while it is sent,
   * `EventStream` for one that streams states.
   */
  reply: Reply;
  /** Error codes beyond 401, 403, 404, 422 and 500. */
  errors?: readonly string[];
  /**
   * The answer has an ETag, and is 304 for a client that has it. The result (the revision, where there is one) is the
   * ETag's prefix before a hash of the answer, so that If-Match can name it.
   */
  etag?: (reply: Static<Reply>) => string;
  representations?: Record<string, Representation<Static<Reply>>>;
  /** Shown in openapi.json; a test validates them. */
  example: { body?: Static<Body>; reply: Static<Reply> };
  run(context: Context<Static<Params>, Static<Query>, Static<Body>>): Promise<Static<Reply> | JsonText | NotModified>;
}

/** An endpoint in the list of endpoints. */
// `any`, because the list holds endpoints of every shape; each is typed where it is defined.
export type Endpoint = EndpointDefinition<any, any, any, any>;

/** Whether the endpoint takes an Idempotency-Key. */
export function isIdempotent({ method, access, idempotent }: Endpoint): boolean {
  return (method === 'POST' || method === 'PATCH') && access.on !== 'anyone' && idempotent !== false;
}

/** Whether it is refused with 402 while its workspace is read-only: everything that writes there. */
export function needsPayment({ method, access, whenUnpaid }: Endpoint): boolean {
  const isWrite = method !== 'GET' && method !== 'OPTIONS';
  return isWrite && whenUnpaid !== true && (access.on === 'workspace' || access.on === 'wiki');
}

/** Defines an endpoint: a value from which the server, openapi.json, access.txt and the generated tests are made. */
export function endpoint<
  Params extends TObject<TProperties> = Empty,
  Query extends TObject<TProperties> = Empty,
  Body extends TSchema = Empty,
  Reply extends TSchema = TSchema,
>(definition: EndpointDefinition<Params, Query, Body, Reply>): Endpoint {
  return definition;
}
