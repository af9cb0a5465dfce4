import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { freePort, makeFolder } from '../process.ts';
import { type Manifest, podOf } from './manifests.ts';

const ROOT = fileURLToPath(PACKAGE);

/** Contents of the cluster: Secrets by name and key, and the manifests of the release. */
export interface Cluster {
  secrets: Record<string, Record<string, string>>;
  manifests: readonly Manifest[];
  image: { env: Record<string, string>; entrypoint: string[] };
}

/** A container as Kubernetes would start it, with the paths and ports of this machine. */
export interface Pod {
  command: string[];
  env: Record<string, string>;
  urlOf(probe: { httpGet: { path: string; port: string } }): string;
  container: Manifest;
  /** The user to run as, who has no account; undefined if the tests may not switch users. */
  uid: number | undefined;
}

const isRoot = process.getuid?.() === 0;

/**
 * Creates the files that are mounted into the pod of a manifest. Throws an Error if the cluster lacks a mounted object.
 */
export async function makePod(cluster: Cluster, manifest: Manifest): Promise<Pod> {
  const { spec } = podOf(manifest);
  const [container] = spec.containers;
  const root = await makeFolder();
  const uid: number | undefined = isRoot ? spec.securityContext.runAsUser : undefined;
  const of = (kind: 'secret' | 'configMap', name: string): Record<string, string> => {
    const map = cluster.manifests.find((each) => each.kind === 'ConfigMap' && each.metadata.name === name);
    const found = kind === 'secret' ? cluster.secrets[name] : map?.data;
    if (!found) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
  for (const { name, mountPath } of container.volumeMounts) {
    await mkdir(join(root, mountPath), { recursive: true });
    if (uid !== undefined) await chown(join(root, mountPath), uid, uid);
    const volume = spec.volumes.find((each: Manifest) => each.name === name);
    const sources = [...(volume.projected?.sources ?? []), volume].flatMap(({ secret, configMap }: Manifest) => [
      ...(secret ? [{ content: of('secret', secret.name ?? secret.secretName), items: secret.items }] : []),
      ...(configMap ? [{ content: of('configMap', configMap.name), items: undefined }] : []),
    ]);
    for (const { content, items } of sources) {
      const files = items ?? Object.keys(content).map((key) => ({ key, path: key }));
      for (const { key, path } of files) await writeMounted(join(root, mountPath, path), content[key], uid);
    }
  }
  const ports: Record<string, number> = {};
  const values: Record<string, string> = { ...cluster.image.env };
  for (const { configMapRef } of container.envFrom ?? []) Object.assign(values, of('configMap', configMapRef.name));
  for (const { name, value, valueFrom } of container.env) {
    values[name] = valueFrom ? of('secret', valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key] : value;
  }
  for (const { name, containerPort } of container.ports ?? []) {
    ports[name] = await freePort();
    const [variable = ''] = Object.entries(values).find(([, value]) => value === String(containerPort)) ?? [];
    values[variable] = String(ports[name]);
  }
  const mounted: string[] = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath);
  const env = Object.entries(values).map(([name, value]) => {
    const isInside = mounted.some((path) => value === path || value.startsWith(`${path}/`));
    return [name, isInside ? join(root, value) : value];
  });
  return {
    command: container.command ?? cluster.image.entrypoint,
    env: Object.fromEntries(env),
    urlOf: ({ httpGet }) => `http://127.0.0.1:${ports[httpGet.port]}${httpGet.path}`,
    container,
    uid,
  };
}

/** Writes a file with the permissions of a mount: owned by root, readable for the group of the pod. */
async function writeMounted(path: string, content: string | undefined, uid: number | undefined): Promise<void> {
  if (content === undefined) throw new Error(`there is no key for ${path}`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  if (uid === undefined) return;
  await chown(path, 0, uid);
  await chmod(path, 0o440);
}

/** Runs a container's command with only its own environment, in the folder of the image. */
export function startPod({ command: [program = '', ...args], env, uid }: Pod) {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then((parts) => parts.join(''));
  let isOver = false;
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => {
      isOver = true;
      resolve(code ?? signal);
    });
  });
  return {
    ended,
    output,
    isOver: () => isOver,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
  };
}

/** Reads the environment and the entrypoint from the Containerfile. */
export function readImage(): Cluster['image'] {
  const lines = readFileSync(join(ROOT, 'deploy/container/Containerfile'), 'utf8').split('\n');
  const of = (name: string) => lines.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const env = of('ENV')
    .split(' ')
    .map((each) => each.split('='));
  return { env: Object.fromEntries(env), entrypoint: JSON.parse(of('ENTRYPOINT')) };
}

export async function answers(pod: Pod, probe: string): Promise<boolean> {
  const { ok } = await fetch(pod.urlOf(pod.container[probe])).catch(() => ({ ok: false }));
  return ok;
}
