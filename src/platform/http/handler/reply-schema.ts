import fastJson from 'fast-json-stringify';
import type { TSchema } from 'typebox';

type Schema = Record<string, unknown>;

/**
 * The schema that replies are serialized by: that of the endpoint without its defaults, which describe the API and
 * fill in nothing. fast-json-stringify then throws for a declared field that the reply lacks (`"title" is required!`),
 * at no cost for a reply that has it: a column that a statement forgot is a 500, not an empty text.
 */
export function replySchema(reply: TSchema): Schema {
  return withoutDefaults(reply as Schema);
}

/** Builds the serializer of a reply when the first one is sent: a start would wait for all of them. */
export function serializedOnce({ schema }: { schema: unknown }): (reply: unknown) => string {
  let stringify: ((reply: unknown) => string) | undefined;
  return (reply) => (stringify ??= fastJson(schema as Schema))(reply);
}

function withoutDefaults({ default: _, ...schema }: Schema): Schema {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, withoutDefaults(property)]),
      ),
    }),
    ...(items && { items: withoutDefaults(items) }),
    ...(anyOf && { anyOf: anyOf.map(withoutDefaults) }),
  };
}
