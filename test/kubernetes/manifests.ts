import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

// Tests read manifests of every kind.
export type Manifest = any;

/** Packages with the schemas and types of an API group. Other groups are part of Kubernetes itself. */
const PACKAGES: Record<string, string> = {
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

const moduleOf = ({ apiVersion }: Manifest) =>
  `${PACKAGES[apiVersion.split('/')[0]] ?? 'kubernetes-models'}/${apiVersion}`;

export const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/**
 * Returns the errors in manifests as sentences. Checks values by the schemas that Kubernetes and the operators publish,
 * and field names by the types generated from them: the schemas allow unknown fields, but `kubectl` refuses them.
 */
export async function findInvalid(manifests: readonly Manifest[]): Promise<string[]> {
  const [ofValues, ofFields] = await Promise.all([invalidValues(manifests), unknownFields(manifests)]);
  return [...ofValues, ...ofFields];
}

async function invalidValues(manifests: readonly Manifest[]): Promise<string[]> {
  const found = manifests.map(async (manifest) => {
    const models = await import(moduleOf(manifest));
    const Model = models[manifest.kind];
    if (!Model) return `${nameOf(manifest)}: there is no such kind in ${manifest.apiVersion}`;
    try {
      new Model(manifest).validate();
      return undefined;
    } catch (error) {
      return `${nameOf(manifest)}: ${(error as Error).message}`;
    }
  });
  return (await Promise.all(found)).filter((problem) => problem !== undefined);
}

/** Compiles the manifests: the compiler refuses a literal with a field that its type lacks. */
async function unknownFields(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-manifests-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const lines = manifests.map(
      (manifest, i) =>
        `export const m${i}: import('${moduleOf(manifest)}').I${manifest.kind} = ${JSON.stringify(manifest)};`,
    );
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const printed = await promisify(execFile)(tsc, [...options, '--types', '', 'manifests.ts'], { cwd: folder }).then(
      () => '',
      ({ stdout, message }) => stdout || message,
    );
    return printed
      .split('\n')
      .filter((line: string) => line.trim() !== '')
      .map((line: string) => {
        const index = Number(/^manifests\.ts\((\d+),/.exec(line)?.[1]) - 1;
        return `${manifests[index] ? nameOf(manifests[index]) : ''}: ${line}`;
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the pod template of a manifest, if it has one. */
export function podOf({ kind, spec }: Manifest): Manifest | undefined {
  if (kind === 'CronJob') return spec.jobTemplate.spec.template;
  return kind === 'Deployment' || kind === 'Job' ? spec.template : undefined;
}

/** Returns the Secrets of a pod, by the option that each one sets. */
export function secretsOf(pod: Manifest): Record<string, { secretName: string; key: string }> {
  const sources = pod.spec.volumes.find(({ name }: Manifest) => name === 'secrets').projected.sources;
  return Object.fromEntries(
    sources.map(({ secret }: Manifest) => [
      secret.items[0].path,
      { secretName: secret.name, key: secret.items[0].key },
    ]),
  );
}
