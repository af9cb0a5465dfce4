import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../endpoint.ts';
import { operationId } from './operation-id.ts';

type Schema = Record<string, unknown>;

/** Replaces each part of a schema that has a title (a record) with a reference to components/schemas. */
export function withReferences(schema: TSchema): Schema {
  return reference(schema as Schema);
}

function reference(schema: Schema): Schema {
  return typeof schema.title === 'string'
    ? { $ref: `#/components/schemas/${schema.title}` }
    : mapParts(schema, reference);
}

/** Gives each body without a title the name of the first operation that takes it: `CreatePageBody`. */
export function withNamedBodies(endpoints: readonly Endpoint[]): Endpoint[] {
  const names = new Map<TSchema, string>();
  return endpoints.map((endpoint) => {
    const body = endpoint.body as (TSchema & Schema) | undefined;
    if (body === undefined || body.title !== undefined) return endpoint;
    const id = operationId(endpoint);
    const title = names.get(body) ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`;
    names.set(body, title);
    return { ...endpoint, body: { ...body, title } };
  });
}

/** Returns the records in these schemas by title, in order. Throws if two different records have the same title. */
export function namedSchemas(schemas: readonly TSchema[]): Record<string, Schema> {
  const originals = new Map<string, Schema>();
  const named: Record<string, Schema> = {};
  const collect = (schema: Schema): Schema => {
    const { title: name } = schema;
    if (typeof name === 'string') {
      const known = originals.get(name);
      if (known && !isDeepStrictEqual(known, schema)) throw new Error(`two records have the title "${name}"`);
      if (known) return schema;
      originals.set(name, schema);
      // Reserves its place in the list before the records that it contains.
      named[name] = {};
      const { title: _, ...parts } = mapParts(schema, reference);
      named[name] = parts;
    }
    return mapParts(schema, collect);
  };
  for (const schema of schemas) collect(schema as Schema);
  return named;
}

/** Returns the schema with `map` applied to the schemas that it contains. */
function mapParts(schema: Schema, map: (part: Schema) => Schema): Schema {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, map(part)])),
    }),
    ...(items && { items: map(items) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
  };
}
