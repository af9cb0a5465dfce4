import { writeFile } from 'node:fs/promises';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import { V8 } from '../../platform/sandbox/v8-options.ts';
import type { Config } from '../config.ts';
import { readArguments } from './arguments.ts';
import { openReport, openReportKey } from './verification-report.ts';
import { verifySources } from './verify.ts';
import { refuseMissingDatabase, withDatabase } from './with-database.ts';
import { withFiles } from './with-files.ts';

type Print = (line: string) => void;

export const VERIFY_USAGE = `  ibid verify [--wiki WIKI_ID]                                  checks that every page still matches its source files
  ibid verify --report FILE [--wiki WIKI_ID]                    the same, and writes a signed report to FILE
  ibid verify --public-key                                      shows the public key for verifying such reports`;

/** Runs `ibid verify …`. Returns whether all sources match. Throws UsageError. */
export async function runVerifyCommand(config: Config, args: readonly string[], print: Print): Promise<boolean> {
  const { values } = readArguments(args, {
    options: {
      wiki: { type: 'string', default: '' },
      report: { type: 'string' },
      'public-key': { type: 'boolean' },
    },
    most: 0,
    usage: VERIFY_USAGE,
  });
  refuseMissingDatabase(config);
  if (!values['public-key']) return verifyAll(config, values, print);
  print((await openReportKey(config.DATA_DIR)).public_key.trimEnd());
  return true;
}

/** Verifies sources in processes separate from the service's. */
async function verifyAll(
  config: Config,
  { wiki: wiki_id, report: file }: { wiki: string; report?: string },
  print: Print,
): Promise<boolean> {
  const sandbox = openSandbox({ processes: 2, v8: V8.files });
  const reader = openDocumentReader();
  let isSound = false;
  try {
    const report = openReport(wiki_id);
    await withFiles(config, (blobs) =>
      withDatabase(config, async (db) => {
        const readers = { blobs, readerOf: reader.of, sandboxOf: sandbox.of };
        isSound = await verifySources(db, readers, wiki_id, print, file === undefined ? undefined : report.add);
      }),
    );
    if (file !== undefined) await writeFile(file, report.signed(await openReportKey(config.DATA_DIR)));
  } finally {
    await sandbox.close();
    await reader.close();
  }
  return isSound;
}
