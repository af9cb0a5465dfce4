import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { forkWorker } from './fork-worker.ts';
import { missingPublicUrl } from './from-config.ts';
import { openLog } from './open-log.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { startService } from './start-service.ts';
import { VERSION } from './version.ts';

/** Runs the service until it is stopped, then exits the process. */
export async function runService(config: Config): Promise<void> {
  process.stdout.write(`Ibid ${VERSION} is starting, with its data in ${resolve(config.DATA_DIR)}\n`);
  const log = openLog(config);
  await runUntilStopped(log, async () => {
    const { address, welcome, stop } = await startService(config, log, { forkWorker });
    process.stdout.write(
      address
        ? `Ibid serves ${address} (API description at ${address}/docs)\n${welcomeMessage(config, welcome)}`
        : 'Ibid works on jobs\n',
    );
    return { stop };
  });
}

function welcomeMessage(config: Config, link: string | undefined): string {
  if (link === undefined) return '';
  const missing = missingPublicUrl(config);
  return `\nThere is no user yet. Open this link in a browser to create the first user:\n\n  ${link}\n\n${missing ? `${missing}\n\n` : ''}`;
}
