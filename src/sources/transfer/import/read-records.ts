import { Ajv, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { ApiError } from '../../../platform/core/errors.ts';
import { decodeJson } from '../../../platform/http/body.ts';
import { invalid } from './archive-error.ts';
import type { Archive } from './open-archive.ts';

/** Maximum length of a line: the text of a page with every character escaped, plus its other fields. */
const LINE_MAX = 10 * 2 ** 20;

const LINE_BREAK = 10;

const ajv = new Ajv({ coerceTypes: false, strictTypes: false, validateSchema: false });

type ReadRecord<T> = (bytes: Buffer, where: string) => T;

/** Returns a function that parses JSON of this shape. It throws an ArchiveError with the location of the fault. */
export function recordReader<S extends TSchema>(schema: S): ReadRecord<Static<S>> {
  // Compiled on first use, so that it does not delay the start of the service.
  let compiled: ValidateFunction | undefined;
  return (bytes, where) => {
    const validate = (compiled ??= ajv.compile(schema));
    let value: unknown;
    try {
      value = decodeJson(bytes);
    } catch (error) {
      throw invalid(`${where}: ${error instanceof ApiError ? error.message : 'is no JSON.'}`, error);
    }
    if (validate(value)) return value as Static<S>;
    const [error] = validate.errors ?? [];
    throw invalid(`${where}: ${error?.instancePath || 'it'} ${error?.message}.`);
  };
}

/** Yields the records of a file of JSON lines. Throws an ArchiveError for a record of another shape. */
export async function* readRecords<T>(archive: Archive, name: string, read: ReadRecord<T>): AsyncGenerator<T> {
  let line = 0;
  let rest: Buffer[] = [];
  let length = 0;
  const next = (bytes: Buffer) => read(bytes, `${name}, line ${++line}`);
  for await (const chunk of archive.chunks(name)) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, from)) {
      yield next(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      length = 0;
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LINE_MAX) throw invalid(`${name}, line ${line + 1} is longer than ${LINE_MAX} bytes.`);
  }
  if (length > 0) yield next(Buffer.concat(rest));
}
