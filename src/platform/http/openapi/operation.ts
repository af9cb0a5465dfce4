import type { TSchema } from 'typebox';
import type { Access } from '../../access/access-rule.ts';
import { type ErrorCode, STATUS_OF } from '../../core/errors.ts';
import { Bytes, Download } from '../bytes.ts';
import { type Endpoint, isIdempotent, needsPayment } from '../endpoint.ts';
import { EventStream } from '../event-stream.ts';
import { STREAM_TYPES } from '../stream-types.ts';
import { describeAccess } from './describe-access.ts';
import { withReferences } from './named-schemas.ts';
import { operationId } from './operation-id.ts';
import { LINK_HEADER, RATE_LIMIT_HEADERS, refs, refusal, STRIPE_EVENT } from './responses.ts';
import { tagOf } from './tags.ts';

/** Accepted by every idempotent POST and PATCH. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A request that repeats a key within 24 hours gets the response of the first request, and has no further effect.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Returns the OpenAPI operation of an endpoint. */
export function operation(endpoint: Endpoint) {
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
      ...(isIdempotent(endpoint) ? [IDEMPOTENCY_KEY] : []),
      ...Object.entries(endpoint.requestHeaders ?? {}).map(([name, description]) => ({
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
      ...Object.fromEntries(errorStatuses(endpoint).map((status) => [status, refusal(status, ownCodes(endpoint))])),
    },
  };
}

/** Returns the successful responses by status. */
function success(endpoint: Endpoint) {
  const isList = endpoint.query?.properties?.offset !== undefined;
  const own = Object.entries(endpoint.replyHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const headers = { ...refs({ ...RATE_LIMIT_HEADERS, ...(isList && LINK_HEADER) }), ...Object.fromEntries(own) };
  if (endpoint.reply === Bytes) {
    const content = { '*/*': { schema: Bytes, example: 'The bytes of the file.' } };
    return {
      200: { description: 'The file. ETag is its hash. The type is detected from the bytes.', headers, content },
      206: { description: 'The part of the file that `Range` requests.', headers, content },
      304: { description: 'The client already has the file, according to If-None-Match.', headers },
    };
  }
  if (endpoint.reply === Download) {
    const content = { 'application/zip': { schema: Download, example: 'The bytes of the archive.' } };
    return {
      200: {
        description:
          'The archive, generated while it is sent. If generating it fails, the download ends early and the archive is incomplete.',
        headers,
        content,
      },
    };
  }
  if (endpoint.reply === EventStream) {
    const content = { 'text/event-stream': { schema: EventStream, example: 'id: …\nevent: job\ndata: {…}\n\n' } };
    return {
      200: { description: 'The current state, followed by each new state.', headers, content },
      204: { description: 'The client already has the last state, according to Last-Event-ID.', headers },
    };
  }
  const status = endpoint.status ?? 200;
  const description = status === 201 ? 'Created.' : 'Done.';
  if (status === 204) return { 204: { description, headers } };
  const others = Object.entries(endpoint.representations ?? {}).map(([type, represent]) => [
    type,
    { schema: { type: 'string' }, example: represent(endpoint.example.reply) },
  ]);
  const content = {
    'application/json': {
      schema: withReferences(endpoint.form?.reply ?? endpoint.reply),
      example: endpoint.example.reply,
    },
    ...Object.fromEntries(others),
  };
  return { [status]: { description, headers, content } };
}

function requestBody(endpoint: Endpoint) {
  const { body, signedBody, consumes, form, example } = endpoint;
  const file = { type: 'string', format: 'binary' };
  if (consumes === 'multipart') {
    const files = form?.file ? { file } : { files: { type: 'array', items: file } };
    const schema = { type: 'object', required: Object.keys(files), properties: { ...files, ...form?.fields } };
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (consumes) {
    const [type, ...others] = STREAM_TYPES[consumes];
    const description = `The type may also be ${others.join(', ')}. The actual type is detected from the bytes.`;
    const content = { [type]: { schema: file } };
    return { requestBody: { ...(others.length > 0 && { description }), required: true, content } };
  }
  if (signedBody) return { requestBody: { required: true, content: { 'application/json': STRIPE_EVENT } } };
  if (!body) return {};
  return {
    requestBody: {
      required: true,
      content: { 'application/json': { schema: withReferences(body), example: example.body } },
    },
  };
}

/** Returns the error statuses that follow from the endpoint's fields, and the statuses that it declares itself. */
function errorStatuses(endpoint: Endpoint): number[] {
  const own = ownCodes(endpoint).map((code) => STATUS_OF[code]);
  const always = [422, 429, 503];
  const ofChild = /:[a-z_]+$/.test(endpoint.path) ? [404] : [];
  const ofBody =
    endpoint.body || endpoint.signedBody ? [400, 413, 415] : endpoint.query || endpoint.params ? [400] : [];
  const ofPayment = needsPayment(endpoint) ? [402] : [];
  return [...new Set([...always, ...ofPayment, ...ofAccess(endpoint.access), ...ofChild, ...ofBody, ...own])].sort(
    (a, b) => a - b,
  );
}

/** Returns the endpoint's error codes in addition to the common codes of their statuses. */
function ownCodes(endpoint: Endpoint): ErrorCode[] {
  return [
    ...((endpoint.errors ?? []) as ErrorCode[]),
    ...(isIdempotent(endpoint) ? (['idempotency_in_progress'] as const) : []),
  ];
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
