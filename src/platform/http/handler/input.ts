import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { ApiError, unsupportedMediaType } from '../../core/errors.ts';
import { isStorable } from '../body.ts';
import type { Endpoint } from '../endpoint.ts';
import { type ListPage, listPaging } from '../list-paging.ts';
import { typesInWords } from '../stream-types.ts';
import { bodyCheck, queryReader } from '../validation.ts';

export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** For lists: the requested page, or the error for an invalid cursor, which is thrown after 404 and 403. */
  paging: ListPage | ApiError | undefined;
}

/**
 * Parses path and query of a request and validates its body against the schemas of the endpoint. Throws 400, 415 or
 * 422.
 */
export function inputReader(endpoint: Endpoint): (request: FastifyRequest) => Input {
  const readQuery = endpoint.query ? queryReader(endpoint.query) : () => ({});
  const checkBody = endpoint.body
    ? bodyCheck(endpoint.body)
    : () => {
        if (endpoint.consumes) throw unsupportedMediaType(undefined, typesInWords(endpoint.consumes));
      };
  const paging = listPaging(endpoint);
  const rest = /\*([a-z_]+)$/.exec(endpoint.path)?.[1];
  const chosen = chosenIds(endpoint);

  return (request) => {
    const params = readParams(request.params as Record<string, string>, rest);
    for (const [name, pattern] of chosen) if (!pattern.test(params[name] ?? '')) throw invalidId(name, pattern);
    const query = readQuery(rawQuery(request));
    paging.check(query);
    if (!streamOf(request)) checkBody(request.body);
    return { params, query, paging: paging.pageOf(query) };
  };
}

/** Returns the unread body of a request whose endpoint consumes it as a stream. */
export function streamOf({ body }: FastifyRequest): Readable | undefined {
  return body instanceof Readable ? body : undefined;
}

function readParams(given: Record<string, string>, rest: string | undefined): Record<string, string> {
  const params: Record<string, string> = {};
  for (const name in given) {
    const value = given[name] ?? '';
    if (!isStorable(value)) throw new ApiError('invalid_identifier', 'The path contains a NUL character.');
    params[name === '*' && rest ? rest : name] = value;
  }
  return params;
}

/**
 * Returns the names and patterns of IDs that callers choose, in the path of a PUT. An ID that does not match is
 * invalid; in other requests it would be not found.
 */
function chosenIds({ method, params }: Endpoint): [name: string, pattern: RegExp][] {
  const properties = (params as { properties?: Record<string, { pattern?: string }> } | undefined)?.properties ?? {};
  return Object.entries(method === 'PUT' ? properties : {}).flatMap(([name, { pattern }]) =>
    pattern === undefined ? [] : [[name, new RegExp(pattern, 'u')]],
  );
}

function invalidId(name: string, pattern: RegExp): ApiError {
  return new ApiError('invalid_identifier', `The ${name} in the path must match ${pattern.source}.`);
}

function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
