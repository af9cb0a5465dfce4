import type { Endpoint } from '../endpoint.ts';
import { type Sample, sampler } from './code-samples.ts';
import { describeApi } from './document.ts';
import { operationId } from './operation-id.ts';

interface Operation {
  operationId: string;
  tags: (string | undefined)[];
  'x-code-samples'?: Sample[];
}

/**
 * Describes the API for the reference at /docs: openapi.json with code samples and readable group names. `origin`: the
 * address of this service.
 */
export function describeForReference(endpoints: readonly Endpoint[], origin: string) {
  const description = describeApi(endpoints);
  const titles = new Map(description.tags.map((tag) => [tag.name, tag['x-displayName']]));
  const sample = sampler(endpoints, origin);
  const samples = new Map(endpoints.map((endpoint) => [operationId(endpoint), sample(endpoint)]));
  const forReference = (operation: Operation): Operation => ({
    ...operation,
    tags: operation.tags.map((tag = '') => titles.get(tag)),
    'x-code-samples': samples.get(operation.operationId) ?? [],
  });
  return {
    ...description,
    tags: description.tags.map((tag) => ({ ...tag, name: tag['x-displayName'] })),
    paths: mapValues(description.paths, (operations) =>
      mapValues(operations as Record<string, Operation>, forReference),
    ),
  };
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
