import { type Manifest, nameOf, podOf, secretsOf } from './manifests.ts';

const isHook = (manifest: Manifest) => manifest?.metadata.annotations?.['helm.sh/hook'] !== undefined;

/**
 * What a pod of this manifest refers to and neither the release has when the pod starts, nor `existing` (the text of the values)
 * names as something that is there already.
 */
export function missingReferences(manifest: Manifest, manifests: readonly Manifest[], existing: string): string[] {
  const pod = podOf(manifest);
  if (!pod) return [];
  const { serviceAccountName, volumes, containers } = pod.spec;
  const isThere = (kind: string, name: string) => {
    const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
    // Hooks come before everything else, and what only they need goes with them.
    return found !== undefined && isHook(found) === isHook(manifest);
  };
  const wanted: [string, string][] = [
    ['ServiceAccount', serviceAccountName],
    ...containers.flatMap(({ envFrom = [] }: Manifest) =>
      envFrom.map(({ configMapRef }: Manifest) => ['ConfigMap', configMapRef.name]),
    ),
    ...volumes.flatMap(({ configMap }: Manifest) => (configMap ? [['ConfigMap', configMap.name]] : [])),
  ];
  const mounted = containers.flatMap(({ volumeMounts }: Manifest) => volumeMounts.map(({ name }: Manifest) => name));
  const named = [
    ...Object.values(secretsOf(pod)).map(({ secretName }) => secretName),
    ...volumes.flatMap(({ secret, persistentVolumeClaim }: Manifest) => [
      ...(secret ? [secret.secretName] : []),
      ...(persistentVolumeClaim ? [persistentVolumeClaim.claimName] : []),
    ]),
  ];
  return [
    ...wanted.filter(([kind, name]) => !isThere(kind, name)).map(([kind, name]) => `${kind} ${name}`),
    ...mounted.filter((name: string) => !volumes.some((volume: Manifest) => volume.name === name)),
    ...named.filter((name) => !existing.includes(`"${name}"`)),
  ].map((what) => `${nameOf(manifest)}: ${what}`);
}
