import type { Readable } from 'node:stream';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Access } from '../access/access-rule.ts';
import type { EventType } from '../access/audit-record.ts';
import type { Credential } from '../access/credential.ts';
import type { AuthorizedDb } from '../access/guard.ts';
import type { RateLimited } from '../access/rate-limits.ts';
import type { Sql } from '../db/sql.ts';
import type { ListOrder, ListPage } from './list-paging.ts';
import type { ReceivedFile } from './multipart.ts';
import type { Services } from './services.ts';

/** Where a request came from, as far as that is known. */
export interface Origin {
  address: string;
  /** At most 256 characters; '' where the client sent none. */
  user_agent: string;
}

/** What `run` is given. `params`, `query` and `body` have passed their schemas. */
export interface Context<Params, Query, Body> extends AuthorizedDb {
  params: Params;
  query: Query;
  /** Of an endpoint with `paging`: the records that the request asks for. */
  paging: ListPage;
  body: Body;
  credential: Credential;
  origin: Origin;
  /** The request's If-Match, which names the state that a write was made from; undefined where there is none. */
  if_match: string | undefined;
  /** One of the headers that the endpoint `reads`; undefined where the client sent none. */
  header(name: string): string | undefined;
  /** The files of an endpoint that takes `multipart/form-data`, durable already. */
  files: readonly ReceivedFile[];
  /** The body of an endpoint that takes `bytes`. */
  bytes: Readable;
  /** The id of the workspace that an endpoint which `founds` may make; else "". */
  new_workspace_id: string;
  services: Services;
}

type Empty = TObject<Record<never, TSchema>>;

/**
 * A reply as JSON that the database wrote: for a list so long that most of the time would go to reading its rows and
 * writing them again. It is sent as it is, so its statement names exactly the fields of the schema.
 */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Another form of the same answer, chosen by `Accept`. */
type Representation<Reply> = (reply: Reply) => string;

interface EndpointDefinition<
  Params extends TObject<TProperties> = Empty,
  Query extends TObject<TProperties> = Empty,
  Body extends TSchema = Empty,
  Reply extends TSchema = TSchema,
> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** As in the router: `:name` is a segment, `*name` is all the rest of the path. */
  path: string;
  /** What it does, in two to five words. */
  summary: string;
  description?: string;
  access: Access;
  /**
   * false: takes no Idempotency-Key, because some of its refusals have to leave a trace (a counted guess, a session that
   * ends), which an answer and its key in one transaction would undo. So of every endpoint that anyone may call.
   */
  idempotent?: false;
  /** The business event of a write: what it is about, a dot, what happened. */
  event?: EventType;
  /** A rate limit that it has besides the general one. */
  limit?: RateLimited['limit'];
  params?: Params;
  query?: Query;
  /** Of a list with `limit`: how it is ordered, so that it goes on by cursor. */
  paging?: ListOrder<Static<Query>, Static<Reply>>;
  body?: Body;
  /**
   * `multipart`: the body is a stream of files, or, where there is a schema for `body` too, JSON instead.
   * `bytes`: it is a stream of bytes that belong where the request's headers say (tus).
   */
  consumes?: 'multipart' | 'bytes';
  /** The request's own headers that count here, with what they mean. */
  requestHeaders?: Record<string, string>;
  /** The body may hold a page's text, so it may be as long as that takes. */
  bodyLimit?: 'markdown';
  /** Headers of every answer, also of a refusal. */
  responseHeaders?: Record<string, string>;
  /** Headers of the answer beside its body. */
  headers?: (reply: Static<Reply>) => Record<string, string>;
  /** What the files are for, as a statement that answers a row where it is there; asked before a byte is read. */
  receives?: (params: Static<Params>) => Sql;
  /** The most files that such a body may have; what uploads may have unless stated. */
  files_max?: number;
  /** A file may be as large as a whole upload: for archives. */
  file_max?: 'upload';
  /** It may make a workspace; row-level security then lets it see that one too. */
  createsWorkspace?: true;
  /** The secret of the invitation that the request carries: it opens the workspace that it is for. */
  invitation?: (input: { query: Static<Query>; body: Static<Body> }) => string;
  /** 200 unless stated. */
  status?: 200 | 201 | 204;
  /** The schema of the JSON; `Bytes` for an endpoint that answers a file, `Events` for one that answers states as they come. */
  reply: Reply;
  /** Codes beyond 401, 403, 404, 422 and 500 that it may answer. */
  errors?: readonly string[];
  /**
   * The answer has an ETag, and is 304 for a client that has it. What this gives (the revision, where there is one) stands
   * in it before a hash of the answer, so that If-Match can name it.
   */
  etag?: (reply: Static<Reply>) => string;
  /** Where a reader's browser is sent (308) when what it asked for is at another address now. */
  movedTo?: (reply: Static<Reply>, params: Static<Params>) => string | undefined;
  representations?: Record<string, Representation<Static<Reply>>>;
  /** Shown in openapi.json; a test validates them. */
  example: { body?: Static<Body>; reply: Static<Reply> };
  run(context: Context<Static<Params>, Static<Query>, Static<Body>>): Promise<Static<Reply> | JsonText>;
}

/** An endpoint as the list of endpoints holds it. */
// `any`, because the list holds endpoints of every shape; each was typed where it was defined.
export type Endpoint = EndpointDefinition<any, any, any, any>;

/** Whether an Idempotency-Key counts here. */
export function isIdempotent({ method, access, idempotent }: Endpoint): boolean {
  return (method === 'POST' || method === 'PATCH') && access.on !== 'anyone' && idempotent !== false;
}

/** Defines an endpoint: a value that the server, openapi.json, access.txt and the computed tests are made from. */
export function endpoint<
  Params extends TObject<TProperties> = Empty,
  Query extends TObject<TProperties> = Empty,
  Body extends TSchema = Empty,
  Reply extends TSchema = TSchema,
>(definition: EndpointDefinition<Params, Query, Body, Reply>): Endpoint {
  return definition;
}
