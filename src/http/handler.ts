import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { requestContext } from '../access/caller-context.ts';
import { type Credential, subjectOf } from '../access/credential.ts';
import { guard, requireCaller } from '../access/guard.ts';
import {
  type Caller,
  claimKey,
  type IdempotentRequest,
  readIdempotencyKey,
  storeAnswer,
} from '../access/idempotency.ts';
import { ApiError, forbidden, notFound, unauthorized, unsupportedMediaType } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { nextLink } from '../core/paging.ts';
import { sha256 } from '../core/secrets.ts';
import type { Db, ServiceDb } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { isStorable } from './body.ts';
import { TYPE_OF } from './body-parsers.ts';
import { Bytes, type StoredFile, sendBytes } from './bytes.ts';
import { type Endpoint, isIdempotent, JsonText } from './endpoint.ts';
import { type EventSource, EventStream, type EventStreams } from './event-stream.ts';
import { type ReceivedFile, receiveFiles } from './multipart.ts';
import { chooseMediaType, entityTag, isKnown } from './representation.ts';
import type { Services } from './services.ts';
import { bodyCheck, queryReader } from './validation.ts';

interface HandlerNeeds {
  db: ServiceDb;
  services: Services;
  log: Logger;
  streams: EventStreams;
}

interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
}

/** The way of every request of an endpoint: credential, input, db, reply; in the order of checks that decisions fix. */
export function handlerOf(endpoint: Endpoint, { db, services, log, streams }: HandlerNeeds) {
  const readQuery = endpoint.query ? queryReader(endpoint.query) : () => ({});
  const checkBody = endpoint.body
    ? bodyCheck(endpoint.body)
    : () => {
        if (endpoint.consumes) throw unsupportedMediaType(undefined, TYPE_OF[endpoint.consumes]);
      };
  const rest = /\*([a-z_]+)$/.exec(endpoint.path)?.[1];
  const status = endpoint.status ?? 200;
  const repeatable = isIdempotent(endpoint);

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const credential = credentialFor(endpoint, request);
    if (isOfAnotherWidget(endpoint, credential)) {
      // Whether the token still counts at all is said first.
      await requireCaller(db, credential);
      throw forbidden();
    }
    let input: Input;
    try {
      input = {
        params: readParams(request.params as Record<string, string>, rest),
        query: readQuery(rawQuery(request)),
      };
      if (!isStream(request.body)) checkBody(request.body);
    } catch (error) {
      await requireCaller(db, credential);
      request.callerKnown = true;
      throw error;
    }

    const secret = endpoint.invitation?.({ query: input.query, body: request.body });
    const opened = {
      new_workspace_id: endpoint.createsWorkspace && newId('org'),
      invitation: secret === undefined ? undefined : sha256(secret),
    };
    const own = db.in(requestContext(endpoint.access, credential, input.params, opened));
    const openOn = (on: Db) =>
      guard({
        db: on,
        access: endpoint.access,
        credential,
        params: input.params,
        event: endpoint.event,
        request_id: request.id,
        address: request.ip,
        onUseNotNoted: (err) => log.warn({ err, request_id: request.id }, 'the last use of a credential was not noted'),
      });
    // From here on a refusal is the guard's own, which has looked at the credential.
    request.callerKnown = true;
    if ((endpoint.event || endpoint.consumes) && services.diskIsFull()) {
      await openOn(own).refuse(
        new ApiError('storage_unavailable', 'The disk of the service is nearly full. Try again later.'),
      );
    }
    let files: ReceivedFile[] = [];
    const stream = isStream(request.body) ? request.body : undefined;
    if (endpoint.consumes === 'multipart' && stream) {
      // Whoever may not upload is refused before a byte is read.
      const there = await openOn(own).maybeOne(endpoint.receives?.(input.params) ?? sql`select 1`);
      if (!there) throw notFound();
      const { upload_files, file_bytes, upload_bytes } = services.limits;
      const limits = {
        ...services.limits,
        upload_files: endpoint.files_max ?? upload_files,
        file_bytes: endpoint.file_max === 'upload' ? upload_bytes : file_bytes,
      };
      files = await receiveFiles(stream, request.headers, services.blobs, limits);
    }

    async function run(on: Db): Promise<unknown> {
      const db = openOn(on);
      const result = await endpoint.run({
        ...db,
        ...input,
        body: request.body,
        files,
        bytes: stream ?? Readable.from([]),
        header: (name) => headerOf(request, name),
        credential,
        origin: { address: request.ip, user_agent: userAgent(request) },
        if_match: request.headers['if-match'],
        services,
        new_workspace_id: opened.new_workspace_id ?? '',
      });
      if (!db.wasChecked()) throw new Error(`${endpoint.method} ${endpoint.path} answered without asking the guard`);
      if (endpoint.event && db.hasWritten()) {
        log.info({ request_id: request.id, event: endpoint.event }, endpoint.event);
      }
      return result;
    }

    const key = repeatable ? readIdempotencyKey(request.headers) : undefined;
    if (key === undefined) return send(request, reply, input, await run(own));
    const { method, url: path } = request;
    const fingerprint = sha256(JSON.stringify(stream ? files.map(nameAndHash) : [request.body]));
    return own
      .transaction(async (query) => {
        const on: Db = { query, transaction: (work) => work(query) };
        // A caller who lost access since gets no answer of before.
        const caller = await openOn(on).maybeOne<Caller>(
          sql`select user_id, credential_id, bound_workspace_id from access`,
        );
        const repeated: IdempotentRequest = { key, caller, method, path, fingerprint };
        const before = await claimKey(query, repeated);
        if (before) reply.header('idempotency-replayed', 'true');
        const result = before ? before.body : await run(on);
        if (!before) await storeAnswer(query, repeated, result);
        return result;
      })
      .then((result) => send(request, reply, input, result));
  };

  function send(request: FastifyRequest, reply: FastifyReply, input: Input, result: unknown) {
    if (endpoint.reply === EventStream) {
      return streams.send(request, reply, result as EventSource, subjectOf(credentialFor(endpoint, request)).join(' '));
    }
    if (endpoint.reply === Bytes) return sendBytes(request, reply, services.blobs, result as StoredFile);
    reply.code(status);
    if (endpoint.headers) reply.headers(endpoint.headers(result));
    if (status === 204) return reply.send();
    if (Array.isArray(result)) {
      const link = nextLink(request.url, input.query, result.length);
      if (link) reply.header('link', link);
    }
    let represent: ((result: unknown) => string) | undefined;
    if (endpoint.representations) {
      reply.header('vary', 'authorization, accept');
      const type = chooseMediaType(request.headers.accept, Object.keys(endpoint.representations));
      if (type !== undefined) {
        const place = type === 'text/html' ? endpoint.movedTo?.(result, input.params) : undefined;
        if (place !== undefined) return reply.redirect(place, 308);
        reply.type(`${type}; charset=utf-8`);
        represent = endpoint.representations[type];
      }
    }
    if (!endpoint.etag && !represent && !(result instanceof JsonText)) return reply.send(result);
    if (!represent) reply.type('application/json; charset=utf-8');
    const text =
      result instanceof JsonText
        ? result.text
        : represent
          ? represent(result)
          : reply.serialize(result as Record<string, unknown>);
    if (endpoint.etag) {
      const etag = entityTag(endpoint.etag(result), String(text));
      reply.header('etag', etag);
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    }
    return reply.serializer(String).send(text);
  }
}

function isStream(body: unknown): body is Readable {
  return body instanceof Readable;
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** A widget token opens widgets alone, and nothing else opens a widget. */
function credentialFor(endpoint: Endpoint, { credential }: FastifyRequest): Credential {
  if (!credential || (endpoint.access.on === 'widget') !== (credential.kind === 'widget')) throw unauthorized();
  return credential;
}

function isOfAnotherWidget({ access }: Endpoint, credential: Credential): boolean {
  return access.on === 'widget' && credential.kind === 'widget' && credential.claims.widget !== access.widget;
}

function readParams(given: Record<string, string>, rest: string | undefined): Record<string, string> {
  const params: Record<string, string> = {};
  for (const name in given) {
    const value = given[name] ?? '';
    if (!isStorable(value)) throw new ApiError('invalid_identifier', 'The path holds a NUL character.');
    params[name === '*' && rest ? rest : name] = value;
  }
  return params;
}

function userAgent(request: FastifyRequest): string {
  const text = request.headers['user-agent'] ?? '';
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 256);
}

function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

function nameAndHash({ filename, blob }: ReceivedFile): [string, string] {
  return [filename, blob.sha256];
}
