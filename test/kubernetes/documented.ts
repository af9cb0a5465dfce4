import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import type { Manifest } from './manifests.ts';
import { findPrograms } from './programs.ts';
import { parseManifests } from './render.ts';

const ROOT = fileURLToPath(PACKAGE);

/** Returns the scripts of a document that install something on Kubernetes. */
export const installationsIn = (document: string): string[] =>
  [...document.matchAll(/```sh\n([^`]*\nhelm upgrade [^`]*)```/g)].map(([, script = '']) => script);

/**
 * Runs a script of a document without a cluster, from the root of a checkout: `kubectl create` prints its manifest,
 * `kubectl apply` its input, `kubectl wait` does nothing, and `helm upgrade` renders. Returns all manifests. Throws an
 * error if a command fails.
 */
export async function runWithoutCluster(script: string): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-commands-'));
  try {
    const { helm, kubectl } = await findPrograms();
    const asKubectl = `case "$1" in apply) exec cat "$3";; wait) ;; *) exec ${kubectl} "$@" --dry-run=client -o json;; esac`;
    const asHelm = `shift 2; exec ${helm} template "$@"`;
    for (const [name, text] of [
      ['kubectl', asKubectl],
      ['helm', asHelm],
    ] as const) {
      await writeFile(join(folder, name), `#!/bin/sh -e\necho ---\n${text}\n`, { mode: 0o755 });
    }
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
    const { stdout } = await promisify(execFile)('sh', ['-euc', script], { cwd: ROOT, env, maxBuffer: 1e8 });
    return parseManifests(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
