import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config.ts';
import { openStore } from '../providers/storage/open-storage.ts';
import { readS3Url } from '../providers/storage/s3-place.ts';
import { openDocumentReader } from '../sandbox/document-reader.ts';
import { lowerOwnPriority, NICE } from '../sandbox/priority.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { V8 } from '../sandbox/v8-options.ts';
import { BACKUP_USAGE, runBackupCommand } from './backup.ts';
import { CONFIG_USAGE, runConfigCommand } from './config.ts';
import { DOCTOR_USAGE, runDoctor } from './doctor/doctor.ts';
import { printFailedJobs, retryJob } from './jobs.ts';
import { printKey } from './key.ts';
import { MIGRATE_USAGE, runMigrateCommand } from './migrate.ts';
import { PLAN_USAGE, runPlanCommand } from './plan.ts';
import { runUpgrade, UPGRADE_USAGE } from './upgrade.ts';
import { runUserCommand, USER_USAGE } from './user.ts';
import { openReport, openReportKey } from './verification-report.ts';
import { verifySources } from './verify.ts';
import { UsageError, withDatabase } from './with-database.ts';
import { runWorkspaceCommand, WORKSPACE_USAGE } from './workspace.ts';

const USAGE = `Usage:
  ibid start                                                    the service, as "npm start" does in a checkout
  ibid key --email ADDRESS [--name NAME]                        a personal API key of that user, created if new
  ibid key --email ADDRESS --workspace WORKSPACE_ID [--name NAME]   a key that is bound to a workspace of that user
  ibid verify [--wiki WIKI_ID]                                  whether every page still shows what its files say
  ibid verify --report FILE [--wiki WIKI_ID]                    the same, with a signed record of it in FILE
  ibid verify --public-key                                      the key that checks the signature of such a record
  ibid jobs                                                     background jobs that failed for good, with their errors
  ibid jobs retry JOB_ID                                        one of them again, with all its attempts
${CONFIG_USAGE}
${DOCTOR_USAGE}
${BACKUP_USAGE}
${MIGRATE_USAGE}
${UPGRADE_USAGE}
${WORKSPACE_USAGE}
${USER_USAGE}
${PLAN_USAGE}
It uses the database of DATA_DIR or DATABASE_URL, as the service does.
`;

async function main(): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'config') {
    if (!runConfigCommand(process.env, rest, print)) process.exitCode = 1;
    return;
  }
  if (command === 'doctor') {
    const isSound = await runDoctor(process.env, rest, print);
    // What hangs keeps the process alive otherwise; a pipe takes all of the output first.
    process.stdout.write('', () => process.exit(isSound ? 0 : 1));
    return;
  }
  if (command === 'plan') return runPlanCommand(readConfig(process.env), rest, print);
  if (command === 'user') return runUserCommand(readConfig(process.env), rest, print);
  if (command === 'workspace') return runWorkspaceCommand(readConfig(process.env), rest, print);
  if (command === 'upgrade') return runUpgrade(readConfig(process.env), rest, print);
  if (command === 'migrate') return runMigrateCommand(readConfig(process.env), rest, print);
  if (['backup', 'restore', 'verify-backup', 'resume'].includes(command ?? '')) {
    // So that requests do not wait for compressing and encrypting.
    if (command === 'backup') lowerOwnPriority(NICE.files);
    if (!(await runBackupCommand(readConfig(process.env), [command ?? '', ...rest], print))) process.exitCode = 1;
    return;
  }
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      workspace: { type: 'string' },
      name: { type: 'string', default: 'ibid key' },
      wiki: { type: 'string', default: '' },
      report: { type: 'string' },
      'public-key': { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help || positionals.length === 0) {
    process.stdout.write(USAGE);
    return;
  }
  const config = readConfig(process.env);
  const [, action, job_id] = positionals;
  if (positionals[0] === 'jobs') {
    if (action === undefined) return withDatabase(config, ({ query }) => printFailedJobs(query, print));
    if (action !== 'retry' || job_id === undefined) throw new UsageError(`ibid jobs retry JOB_ID\n\n${USAGE}`);
    return withDatabase(config, (db) => retryJob(db, job_id, print));
  }
  if (positionals.join(' ') === 'verify') {
    if (values['public-key']) return print((await openReportKey(config.DATA_DIR)).public_key.trimEnd());
    if (!(await verifyAll(config, values, print))) process.exitCode = 1;
    return;
  }
  if (positionals.join(' ') !== 'key')
    throw new UsageError(`there is no command "${positionals.join(' ')}".\n\n${USAGE}`);
  const { email, workspace, name } = values;
  if (email === undefined) throw new UsageError(`say whose key it is: --email ADDRESS.\n\n${USAGE}`);
  await withDatabase(config, (db) => printKey(db, { email, name, workspace_id: workspace ?? null }));
}

/** Verifies sources with processes of its own; returns whether all match. */
async function verifyAll(
  config: Config,
  { wiki: wiki_id, report: file }: { wiki: string; report?: string },
  print: (line: string) => void,
): Promise<boolean> {
  const { STORAGE_URL, DATA_DIR } = config;
  const { blobs, close } = await openStore(STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL), DATA_DIR);
  const sandbox = openSandbox({ processes: 2, v8: V8.files });
  const reader = openDocumentReader();
  let isSound = false;
  try {
    const readers = { blobs, readerOf: reader.of, sandboxOf: sandbox.of };
    const report = openReport(wiki_id);
    await withDatabase(config, async (db) => {
      isSound = await verifySources(db, readers, wiki_id, print, file === undefined ? undefined : report.add);
    });
    if (file !== undefined) await writeFile(file, report.signed(await openReportKey(DATA_DIR)));
  } finally {
    await sandbox.close();
    await reader.close();
    close();
  }
  return isSound;
}

main().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`ibid: ${text}\n`);
  process.exitCode = 1;
});
