import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestName } from '../config/nearest-name.ts';
import { UsageError } from './with-database.ts';

type Flags = NonNullable<ParseArgsConfig['options']>;

interface Form<T extends Flags> {
  options: T;
  /** Maximum number of positional arguments. */
  most: number;
  /** Printed after the error of a wrong call. */
  usage: string;
}

/** Parses the arguments of a command. Throws UsageError. */
export function readArguments<T extends Flags>(args: readonly string[], { options, most, usage }: Form<T>) {
  const problem = problemOf([...args], options, most);
  if (problem !== undefined) throw new UsageError(`${problem}\n\n${usage}`);
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

function problemOf(args: string[], options: Flags, most: number): string | undefined {
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true });
  let left = most;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      left -= 1;
      if (left < 0) return `unexpected argument "${token.value}".`;
    }
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = options[name];
    if (!option) return `unknown option ${rawName}${suggestion(name, Object.keys(options), '--')}.`;
    if (option.type === 'boolean' && value !== undefined) return `${rawName} takes no value.`;
    if (option.type === 'string' && (value === undefined || (!inlineValue && value.startsWith('-')))) {
      return `${rawName} requires a value.`;
    }
  }
  return undefined;
}

/** Suggests an existing name that resembles an unknown one; "" if none does. */
export function suggestion(name: string, known: readonly string[], prefix = ''): string {
  const upper = known.map((each) => each.toUpperCase());
  const near = nearestName(name, upper);
  return near === undefined ? '' : ` (did you mean ${prefix}${near.toLowerCase()}?)`;
}
