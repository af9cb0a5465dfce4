import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import type { Params } from './decode-form.ts';
import { StripeProblem } from './problem.ts';

const RESOURCES = new URL('node_modules/stripe/esm/resources/', PACKAGE);

const known = new Map<string, Set<string>>();

/** Returns the fields of an interface in the library's types, which are the parameters that Stripe knows. */
function fieldsOf(file: string, name: string): Set<string> {
  const key = `${file} ${name}`;
  let fields = known.get(key);
  if (!fields) {
    const text = readFileSync(fileURLToPath(new URL(`${file}.d.ts`, RESOURCES)), 'utf8').replace(
      /\/\*\*[\s\S]*?\*\//g,
      '',
    );
    const [namespace, own = namespace] = name.split('.');
    const from = own === namespace ? 0 : text.indexOf(`namespace ${namespace} {`);
    const pattern = `^( *)(?:export )?interface ${own}( extends PaginationParams)? \\{\\n([\\s\\S]*?)^\\1\\}`;
    const [, , isList, body] = new RegExp(pattern, 'm').exec(text.slice(from)) ?? [];
    if (body === undefined) throw new Error(`the types of the library have no ${name} in ${file}`);
    fields = new Set([...body.matchAll(/^ +(\w+)\??:/gm)].map((match) => match[1] ?? ''));
    if (isList) for (const field of ['limit', 'starting_after', 'ending_before']) fields.add(field);
    known.set(key, fields);
  }
  return fields;
}

/** Throws an error for parameters that the library's types lack, as Stripe does. */
export function checkParameters(params: Params, file: string, name: string): void {
  const fields = fieldsOf(file, name);
  for (const param of Object.keys(params)) {
    if (!fields.has(param))
      throw new StripeProblem(
        400,
        'invalid_request_error',
        'parameter_unknown',
        `Received unknown parameter: ${param}`,
      );
  }
}

export function requireText(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== 'string' || value === '') {
    throw new StripeProblem(400, 'invalid_request_error', 'parameter_missing', `Missing required param: ${name}.`);
  }
  return value;
}

export function optionalText(params: Params, name: string): string | undefined {
  const value = params[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Parses an integer of at least `min`; returns undefined if the parameter is missing. */
export function optionalInteger(params: Params, name: string, min = 0): number | undefined {
  const text = optionalText(params, name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < min) {
    throw new StripeProblem(400, 'invalid_request_error', 'parameter_invalid_integer', `Invalid integer: ${text}`);
  }
  return number;
}
