import { readFileSync } from 'node:fs';
import { parseEnvFile } from './env-file.ts';
import { nearestName } from './nearest-name.ts';
import type { Options } from './option.ts';

export type Env = Record<string, string | undefined>;

/** The environment variable that names a file of options. */
export const CONFIG_FILE = 'IBID_CONFIG';

/** A given value and its origin: "environment" or "/etc/ibid/ibid.conf:3", with the secret file if any. */
export interface GivenValue {
  value: string;
  from: string;
}

/**
 * Values of the environment or of the file, by name. `from` is their origin; `where` is the prefix of messages about
 * them.
 */
type Source = Map<string, { value: string; from: string; where: string }>;

/** Maximum size of the options file and of a secret file, far more than either needs. */
const BYTES_MAX = 2 ** 20;

/**
 * Collects the given options from the environment and from the file that IBID_CONFIG names. The environment wins, even
 * if NAME is empty there. NAME_FILE can name a separate file with the value of a secret; an empty NAME_FILE is ignored.
 * `problems` has every obstacle to reading the options, including misspelt names.
 */
export function collectValues(
  options: Options,
  env: Env,
): { given: Map<string, GivenValue>; files: string[]; problems: string[] } {
  const problems: string[] = [];
  const files: string[] = [];
  const given = new Map<string, GivenValue>();
  const variables: Source = new Map();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined) variables.set(name, { value, from: 'environment', where: '' });
  }
  const sources = [variables, readConfigFile(env[CONFIG_FILE]?.trim(), files, problems)];
  sources.forEach((source, i) => {
    for (const name of source.keys()) refuseUnknown(options, name, source, i === 1, problems);
  });
  for (const [name, { isSecret }] of Object.entries(options)) {
    for (const source of sources) {
      const value = isSecret ? valueOrFile(name, source, files, problems) : source.get(name);
      if (!value) continue;
      given.set(name, value);
      break;
    }
  }
  return { given, files, problems };
}

function readConfigFile(path: string | undefined, files: string[], problems: string[]): Source {
  const source: Source = new Map();
  if (!path) return source;
  files.push(path);
  const text = readText(path, (reason) => problems.push(`${CONFIG_FILE} names ${path}, which ${reason}`));
  const parsed = parseEnvFile(text ?? '');
  for (const { line, message } of parsed.problems) problems.push(`${path}:${line}: ${message}`);
  for (const { name, value, line } of parsed.entries) {
    source.set(name, { value, from: `${path}:${line}`, where: `${path}:${line}: ` });
  }
  return source;
}

/**
 * Reports unknown names. The environment contains variables of other programs, so there only names that resemble an
 * option are reported.
 */
function refuseUnknown(options: Options, name: string, source: Source, isFile: boolean, problems: string[]): void {
  if (Object.hasOwn(options, name) || (name === CONFIG_FILE && !isFile)) return;
  const plain = name.replace(/_FILE$/, '');
  if (plain !== name && options[plain]?.isSecret) return;
  const where = source.get(name)?.where ?? '';
  if (name === CONFIG_FILE) problems.push(`${where}${name} can only be set in the environment`);
  else if (plain !== name && options[plain] && (isFile || plain.length > 5)) {
    problems.push(`${where}${name} is not an option, because ${plain} is not a secret: set ${plain} itself`);
  } else {
    const near = nearestName(name, namesOf(options));
    if (near !== undefined)
      problems.push(`${where}${name} is not an option: use ${near}${isFile ? '' : ', or unset it'}`);
    else if (isFile)
      problems.push(`${where}${name} is not an option: remove it; "ibid config --explain" lists all options`);
  }
}

function namesOf(options: Options): string[] {
  const secrets = Object.keys(options).filter((name) => options[name]?.isSecret);
  return [...Object.keys(options), ...secrets.map((name) => `${name}_FILE`), CONFIG_FILE];
}

/**
 * Reads a secret from NAME or from the file that NAME_FILE names. Empty values are ignored, because Compose sets
 * variables without a value.
 */
function valueOrFile(name: string, source: Source, files: string[], problems: string[]): GivenValue | undefined {
  const plain = source.get(name);
  const file = source.get(`${name}_FILE`);
  const path = file?.value.trim();
  if (!file || !path) return plain;
  const { where, from } = file;
  if (plain?.value.trim()) {
    problems.push(`${where}${name} and ${name}_FILE are both set: unset one of them`);
    return plain;
  }
  files.push(path);
  const report = (reason: string) => void problems.push(`${where}${name}_FILE names ${path}, which ${reason}`);
  const value = readText(path, report)?.replace(/\r?\n$/, '');
  if (value === undefined) return undefined;
  if (value.trim() === '') report('is empty');
  else if (/[\r\n]/.test(value)) report('has more than one line');
  else return { value, from: `${path}, which ${name}_FILE names (${from})` };
  return undefined;
}

function readText(path: string, report: (reason: string) => void): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > BYTES_MAX) report('is larger than 1 MiB');
    else return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    report(code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`);
  }
  return undefined;
}
