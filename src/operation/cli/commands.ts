import { lowerOwnPriority, NICE } from '../../platform/sandbox/priority.ts';
import { readConfig } from '../config.ts';
import { VERSION } from '../service/version.ts';
import { suggestion } from './arguments.ts';
import { BACKUP_USAGE, runBackupCommand } from './backup.ts';
import { CONFIG_USAGE, runConfigCommand } from './config.ts';
import { DOCTOR_USAGE, runDoctor } from './doctor/doctor.ts';
import { JOBS_USAGE, runJobsCommand } from './jobs.ts';
import { KEY_USAGE, runKeyCommand } from './key.ts';
import { MIGRATE_USAGE, runMigrateCommand } from './migrate.ts';
import { PLAN_USAGE, runPlanCommand } from './plan.ts';
import { runSeedCommand, SEED_USAGE } from './seed.ts';
import { runUpgrade, UPGRADE_USAGE } from './upgrade.ts';
import { runUserCommand, USER_USAGE } from './user.ts';
import { runVerifyCommand, VERIFY_USAGE } from './verify-command.ts';
import { UsageError } from './with-database.ts';
import { runWorkspaceCommand, WORKSPACE_USAGE } from './workspace.ts';

type Env = NodeJS.ProcessEnv;
type Print = (line: string) => void;

interface Command {
  usage: string;
  /** Returns false, or a promise of it, if a check of the command failed. */
  run(env: Env, args: string[], print: Print): unknown;
}

const START_USAGE = `  ibid start                                                    starts the service, like "npm start" in a checkout`;

const ofBackups = (name: string): Command => ({
  usage: BACKUP_USAGE,
  run(env, args, print) {
    // Yield the CPU to requests while compressing and encrypting.
    if (name === 'backup') lowerOwnPriority(NICE.files);
    return runBackupCommand(readConfig(env), [name, ...args], print);
  },
});

/** All commands by their first word, in the order of the help. Commands of one kind share their usage. */
export const COMMANDS: Record<string, Command> = {
  // src/main.ts starts the service itself; this handles only calls with arguments.
  start: {
    usage: START_USAGE,
    run() {
      throw new UsageError(`start takes no arguments; options are set in the environment.\n\n${START_USAGE}`);
    },
  },
  key: { usage: KEY_USAGE, run: (env, args, print) => runKeyCommand(readConfig(env), args, print) },
  verify: { usage: VERIFY_USAGE, run: (env, args, print) => runVerifyCommand(readConfig(env), args, print) },
  jobs: { usage: JOBS_USAGE, run: (env, args, print) => runJobsCommand(readConfig(env), args, print) },
  config: { usage: CONFIG_USAGE, run: runConfigCommand },
  doctor: { usage: DOCTOR_USAGE, run: (env, args, print) => runDoctor(env, args, print) },
  backup: ofBackups('backup'),
  'verify-backup': ofBackups('verify-backup'),
  restore: ofBackups('restore'),
  resume: ofBackups('resume'),
  migrate: { usage: MIGRATE_USAGE, run: (env, args, print) => runMigrateCommand(readConfig(env), args, print) },
  upgrade: { usage: UPGRADE_USAGE, run: (env, args, print) => runUpgrade(readConfig(env), args, print) },
  workspace: { usage: WORKSPACE_USAGE, run: (env, args, print) => runWorkspaceCommand(readConfig(env), args, print) },
  user: { usage: USER_USAGE, run: (env, args, print) => runUserCommand(readConfig(env), args, print) },
  seed: { usage: SEED_USAGE, run: (env, args, print) => runSeedCommand(readConfig(env), args, print) },
  plan: { usage: PLAN_USAGE, run: (env, args, print) => runPlanCommand(readConfig(env), args, print) },
};

const HELP = `Usage:
${[...new Set(Object.values(COMMANDS).map(({ usage }) => usage.trimEnd()))].join('\n')}
  ibid COMMAND --help                                           shows the usage of one command
  ibid --version                                                shows the version of this program
All commands except start, migrate and restore need a database that a service has created, in DATA_DIR or at DATABASE_URL.`;

const ASKS_FOR_HELP = new Set(['--help', '-h']);
const ASKS_FOR_VERSION = new Set(['--version', '-v']);

/**
 * Runs the command that the arguments name. Returns whether all its checks passed. Throws UsageError, ConfigError or
 * StartError.
 */
export async function runCommand(env: Env, args: readonly string[], print: Print): Promise<boolean> {
  const [first = '', ...rest] = args[0] === 'help' ? [...args.slice(1), '--help'] : args;
  const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (!command && first !== '' && !first.startsWith('-')) {
    const instead = suggestion(first, Object.keys(COMMANDS));
    throw new UsageError(`unknown command "${first}"${instead}.\n\n${HELP}`);
  }
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (flags.some((flag) => ASKS_FOR_VERSION.has(flag))) {
    print(`ibid ${VERSION}`);
    return true;
  }
  if (command && !rest.some((flag) => ASKS_FOR_HELP.has(flag))) {
    return (await command.run(env, rest, print)) !== false;
  }
  if (!command && first !== '' && !ASKS_FOR_HELP.has(first)) {
    throw new UsageError(`unknown option ${first}.\n\n${HELP}`);
  }
  print(command ? `Usage:\n${command.usage.trimEnd()}` : HELP);
  return true;
}
