import { collectValues, type Env } from './given-values.ts';
import { type Options, shownValue } from './option.ts';

/** An option with its effective value. */
export interface OptionInForce {
  name: string;
  /** The given value, trimmed. */
  value: string;
  /** The origin of the value; undefined for the default. */
  from: string | undefined;
}

/**
 * Reads options from the environment and from the file that IBID_CONFIG names. Invalid options have their default in
 * `read`. `files` are the options file and the secret files.
 */
export function inspectOptions(
  options: Options,
  env: Env,
): { read: Record<string, unknown>; inForce: OptionInForce[]; files: string[]; problems: string[] } {
  const { given, files, problems } = collectValues(options, env);
  const read: Record<string, unknown> = {};
  const inForce: OptionInForce[] = [];
  for (const [name, option] of Object.entries(options)) {
    const found = given.get(name);
    const value = found?.value.trim() || option.fallback;
    inForce.push({ name, value, from: found?.from });
    try {
      read[name] = option.read(value);
    } catch (error) {
      read[name] = option.read(option.fallback);
      const place = found === undefined || found.from === 'environment' ? '' : `${found.from}: `;
      problems.push(`${place}${name} is "${shownValue(option, value)}"; it must be ${(error as Error).message}`);
    }
  }
  return { read, inForce, files, problems };
}
