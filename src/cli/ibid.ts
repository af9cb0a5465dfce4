import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { openStore } from '../providers/storage/open-storage.ts';
import { readS3Url } from '../providers/storage/s3-place.ts';
import { printFailedJobs, retryJob } from './jobs.ts';
import { printKey } from './key.ts';
import { verifySources } from './verify.ts';
import { UsageError, withDatabase } from './with-database.ts';
import { runWorkspaceCommand, WORKSPACE_USAGE } from './workspace.ts';

const USAGE = `Usage:
  ibid key --email ADDRESS [--name NAME]                        a personal API key of that user, created if new
  ibid key --email ADDRESS --workspace WORKSPACE_ID [--name NAME]   a key that is bound to a workspace of that user
  ibid verify [--wiki WIKI_ID]                                  whether every page still shows what its sources say
  ibid jobs                                                     background jobs that failed for good, with their errors
  ibid jobs retry JOB_ID                                        one of them again, with all its attempts
${WORKSPACE_USAGE}
It uses the database of DATA_DIR or DATABASE_URL, as the service does.
`;

async function main(): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'workspace') return runWorkspaceCommand(readConfig(process.env), rest, print);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      workspace: { type: 'string' },
      name: { type: 'string', default: 'ibid key' },
      wiki: { type: 'string', default: '' },
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
    return withDatabase(config, ({ query }) => retryJob(query, job_id, print));
  }
  if (positionals.join(' ') === 'verify') {
    const { STORAGE_URL, DATA_DIR } = config;
    const { blobs, close } = await openStore(STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL), DATA_DIR);
    await withDatabase(config, async (db) => {
      if (!(await verifySources(db, blobs, values.wiki, print))) process.exitCode = 1;
    });
    close();
    return;
  }
  if (positionals.join(' ') !== 'key')
    throw new UsageError(`there is no command "${positionals.join(' ')}".\n\n${USAGE}`);
  const { email, workspace, name } = values;
  if (email === undefined) throw new UsageError(`say whose key it is: --email ADDRESS.\n\n${USAGE}`);
  await withDatabase(config, (db) => printKey(db, { email, name, workspace_id: workspace ?? null }));
}

main().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`ibid: ${text}\n`);
  process.exitCode = 1;
});
