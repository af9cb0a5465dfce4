import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import type { Manifest } from './manifests.ts';
import { findPrograms } from './programs.ts';

const CHART = fileURLToPath(new URL('deploy/helm/ibid', PACKAGE));
const programs = findPrograms();
// Prevents an unhandled rejection. Callers check `whyNoPrograms` first.
programs.catch(() => undefined);

/** Runs a Helm command on the chart with these values. Throws the error of execFile, with `stderr`. */
export async function runHelm(command: string[], values: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-values-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    const { helm } = await programs;
    // Hides the user's own settings and plugins.
    const env = { PATH: process.env.PATH, HOME: folder };
    const { stdout } = await promisify(execFile)(helm, [...command, CHART, '--values', file], { env, maxBuffer: 1e8 });
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the manifests of a release "ibid" in the namespace "wiki". */
export async function renderChart(values: object): Promise<Manifest[]> {
  return parseManifests(await runHelm(['template', 'ibid', '--namespace', 'wiki'], values));
}

export function parseManifests(text: string): Manifest[] {
  // Kubernetes reads YAML 1.1.
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJSON())
    .filter((manifest) => manifest !== null);
}
