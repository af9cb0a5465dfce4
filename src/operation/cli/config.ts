import { CONFIG_FILE, type Env } from '../config/given-values.ts';
import type { OptionInForce } from '../config/inspect-options.ts';
import { type Options, shownValue } from '../config/option.ts';
import { OPTIONS } from '../config/options.ts';
import { inspectConfig } from '../config.ts';
import { optionProblems } from '../service/option-problems.ts';
import { readArguments } from './arguments.ts';
import { UsageError } from './with-database.ts';

type Print = (line: string) => void;

export const CONFIG_USAGE = `  ibid config --check                                           checks all options and lists every problem
  ibid config --explain                                         shows the value, source and default of each option`;

/** Runs `ibid config …`, which needs no database. Returns whether the options have no problem. Throws UsageError. */
export function runConfigCommand(env: Env, args: string[], print: Print): boolean {
  const { check, explain } = readFlags(args);
  const { config, inForce, problems } = inspectConfig(env);
  if (explain) {
    print(
      `${CONFIG_FILE}=${env[CONFIG_FILE] ?? ''}\n  A file with options as lines NAME=value. The environment takes precedence.\n`,
    );
    for (const option of inForce) print(explained(option));
  }
  const all = [...problems, ...optionProblems(config)];
  for (const problem of all) print(problem);
  if (check && all.length === 0) {
    const given = inForce.filter(({ from }) => from !== undefined);
    print(`No problems found; ${given.length} of ${inForce.length} options are set.`);
  }
  return all.length === 0;
}

function readFlags(args: string[]): { check?: boolean; explain?: boolean } {
  const options = { check: { type: 'boolean' }, explain: { type: 'boolean' } } as const;
  const { values } = readArguments(args, { options, most: 0, usage: CONFIG_USAGE });
  if (values.check || values.explain) return values;
  throw new UsageError(`use --check or --explain.\n\n${CONFIG_USAGE}`);
}

function explained({ name, value, from }: OptionInForce): string {
  const option = (OPTIONS as Options)[name];
  if (!option) return name;
  const usual = option.fallback === '' ? 'empty' : option.fallback;
  const lines = [
    `${name}=${shownValue(option, value)}`,
    `  from: ${from ?? 'default'}; default: ${usual}`,
    `  ${option.doc}${option.see ? ` See ${option.see}.` : ''}`,
  ];
  return `${lines.join('\n')}\n`;
}
