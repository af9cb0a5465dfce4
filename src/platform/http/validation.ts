import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { ApiError, type Detail, validationError } from '../core/errors.ts';
import { isStorable } from './body.ts';

/**
 * Nothing is coerced: `5` is not a string. `verbose` adds the input and the schema to an error. `allErrors` is safe,
 * because the lengths of lists are checked before and the patterns of the schemas cannot backtrack. The schemas are
 * trusted and not validated themselves, because compiling the meta-schema takes longer than compiling them.
 */
const ajv = new Ajv({ allErrors: true, verbose: true, coerceTypes: false, strictTypes: false, validateSchema: false });

/** Maximum number of characters of an invalid input that are echoed. */
const INPUT_MAX = 256;

/** Maximum number of errors in a response, and their length as JSON. */
const DETAILS_MAX = 50;
const DETAILS_LENGTH_MAX = 32_768;

type Check = (value: unknown) => void;

/** Compiles the schema on first use, because compiling all schemas would delay the start. */
function compiledOnce(schema: TSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => (validate ??= ajv.compile(schema));
}

/** Returns a check of a JSON body against its schema. It throws 422 with `loc` ["body", …]. */
export function bodyCheck(schema: TSchema & { properties?: Record<string, TSchema & { maxItems?: number }> }): Check {
  const validate = compiledOnce(schema);
  const lengths = Object.entries(schema.properties ?? {}).flatMap(([name, { maxItems }]) =>
    maxItems === undefined ? [] : [{ name, maxItems }],
  );
  return (value) => {
    if (value === undefined || value === null) {
      throw validationError([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
    }
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw validationError([
        {
          type: 'model_attributes_type',
          loc: ['body'],
          msg: 'Input should be a valid dictionary or object to extract fields from',
          input: echo(value),
        },
      ]);
    }
    const tooLong = lengths.flatMap(({ name, maxItems }) => {
      const list: unknown = value[name as never];
      return Array.isArray(list) && list.length > maxItems ? [listTooLong(['body', name], list, maxItems)] : [];
    });
    if (tooLong.length > 0) throw validationError(tooLong);
    run(validate(), 'body', value);
  };
}

function listTooLong(loc: string[], list: unknown[], max_length: number): Detail {
  const items = count(max_length, 'item');
  return {
    type: 'too_long',
    loc,
    msg: `List should have at most ${items} after validation, not ${list.length}`,
    input: echo(list),
    ctx: { field_type: 'List', max_length, actual_length: list.length },
  };
}

function run(validate: ValidateFunction, where: string, value: unknown): void {
  if (validate(value)) return;
  throw validationError(detailsOf(validate.errors ?? [], where));
}

/**
 * Returns a parser of the query: integers consist of digits only, each name occurs at most once, unknown names are
 * ignored. It throws 400 for an invalid encoding, and 422 with `loc` ["query", name] for all other errors.
 */
export function queryReader(schema: TSchema & { properties?: Record<string, TSchema> }) {
  const properties = Object.entries(schema.properties ?? {});
  const validate = compiledOnce(schema);
  return (raw: string): Record<string, unknown> => {
    const given = raw === '' ? new Map<string, string[]>() : decodeQuery(raw);
    const value: Record<string, unknown> = {};
    const invalid: Detail[] = [];
    for (const [name, property] of properties) {
      const texts = given.get(name);
      if (texts === undefined) {
        if ('default' in property) value[name] = property.default;
        continue;
      }
      const isInteger = 'type' in property && property.type === 'integer';
      if (texts.length > 1) invalid.push(wrongType(name, isInteger, SECRET_NAMES.test(name) ? '…' : echo(texts)));
      else if (!isInteger) value[name] = texts[0];
      else if (/^-?[0-9]+$/.test(texts[0] ?? '')) value[name] = clampInteger(Number(texts[0]));
      else {
        invalid.push({
          type: 'int_parsing',
          loc: ['query', name],
          msg: 'Input should be a valid integer, unable to parse string as an integer',
          input: echo(texts[0]),
        });
      }
    }
    if (invalid.length > 0) throw validationError(invalid);
    run(validate(), 'query', value);
    return value;
  };
}

function wrongType(name: string, isInteger: boolean, input: unknown): Detail {
  return isInteger
    ? { type: 'int_type', loc: ['query', name], msg: 'Input should be a valid integer', input }
    : { type: 'string_type', loc: ['query', name], msg: 'Input should be a valid string', input };
}

/** An offset of forty digits is valid; it is after the last record. */
function clampInteger(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function decodeQuery(raw: string): Map<string, string[]> {
  const given = new Map<string, string[]>();
  for (const pair of raw.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : decode(pair.slice(at + 1));
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  return given;
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new ApiError('invalid_query', 'The query is not valid percent-encoded UTF-8.', { cause });
  }
  if (!isStorable(decoded)) throw new ApiError('invalid_query', 'The query contains a NUL character.');
  return decoded;
}

/** Returns the first errors, as many as fit into a response. */
function detailsOf(errors: ErrorObject[], where: string): Detail[] {
  const details = new Map<string, Detail>();
  let length = 0;
  for (const error of errors) {
    if (details.size === DETAILS_MAX || length > DETAILS_LENGTH_MAX) break;
    // A union reports an error for each branch; Pydantic reports one per field, so only the first error per place is
    // kept.
    const loc = [where, ...pointerParts(error.instancePath)];
    if (error.keyword === 'required') loc.push(String(error.params.missingProperty));
    const key = loc.join('\0');
    const isSecret = error.keyword !== 'required' && SECRET_NAMES.test(String(loc.at(-1)));
    if (details.has(key)) continue;
    const detail = { ...describeError(error), loc, ...(isSecret && { input: '…' }) };
    details.set(key, detail);
    length += JSON.stringify(detail).length;
  }
  return [...details.values()];
}

function pointerParts(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^[0-9]+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
}

/** Returns Pydantic v2's type and message for each keyword that the schemas of this API use. */
function describeError(error: ErrorObject): Omit<Detail, 'loc'> {
  const input = echo(error.data);
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return { type: 'missing', msg: 'Field required', input };
    case 'pattern':
      return {
        type: 'string_pattern_mismatch',
        msg: `String should match pattern '${params.pattern}'`,
        input,
        ctx: { pattern: params.pattern },
      };
    case 'minLength': {
      const ctx = { min_length: params.limit };
      return {
        type: 'string_too_short',
        msg: `String should have at least ${count(params.limit, 'character')}`,
        input,
        ctx,
      };
    }
    case 'maxLength': {
      const ctx = { max_length: params.limit };
      return {
        type: 'string_too_long',
        msg: `String should have at most ${count(params.limit, 'character')}`,
        input,
        ctx,
      };
    }
    case 'minimum': {
      const msg = `Input should be greater than or equal to ${params.limit}`;
      return { type: 'greater_than_equal', msg, input, ctx: { ge: params.limit } };
    }
    case 'maximum': {
      const msg = `Input should be less than or equal to ${params.limit}`;
      return { type: 'less_than_equal', msg, input, ctx: { le: params.limit } };
    }
    case 'enum': {
      const expected = oneOf(params.allowedValues);
      return { type: 'enum', msg: `Input should be ${expected}`, input, ctx: { expected } };
    }
    case 'type':
      return describeType(String(params.type), input);
    default:
      return { type: 'value_error', msg: `Value error, ${error.message ?? 'not allowed here'}`, input };
  }
}

function describeType(type: string, input: unknown): Omit<Detail, 'loc'> {
  // A nullable string is a union of types; Pydantic names its first branch.
  if (type.includes('string')) return { type: 'string_type', msg: 'Input should be a valid string', input };
  if (type === 'boolean') return { type: 'bool_type', msg: 'Input should be a valid boolean', input };
  if (type === 'integer') return { type: 'int_type', msg: 'Input should be a valid integer', input };
  if (type === 'array') return { type: 'list_type', msg: 'Input should be a valid list', input };
  return { type: `${type}_type`, msg: `Input should be a valid ${type}`, input };
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

function oneOf(values: unknown[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

const SECRET_NAMES = /token|secret|password|authorization|attempt|callback/i;

/** Returns the part of an invalid input to echo: at most 256 characters, and never a secret. */
function echo(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value, (key, item) => (SECRET_NAMES.test(key) ? '…' : shortened(item)));
  return text.length <= INPUT_MAX ? JSON.parse(text) : cut(text);
}

/** Truncates values before JSON.stringify, which would otherwise write them in full. */
function shortened(item: unknown): unknown {
  return typeof item === 'string' || Array.isArray(item) ? item.slice(0, INPUT_MAX) : item;
}

/**
 * Truncates a text without splitting a surrogate pair. Returns a copy, which does not keep the whole text in memory.
 */
function cut(text: string): string {
  return structuredClone(text.slice(0, INPUT_MAX).replace(/[\ud800-\udbff]$/, ''));
}
