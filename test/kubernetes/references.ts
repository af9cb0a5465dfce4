import { type Manifest, nameOf, podOf, secretsOf } from './manifests.ts';

const isHook = (manifest: Manifest) => manifest?.metadata.annotations?.['helm.sh/hook'] !== undefined;

/**
 * Returns the references of a manifest's pod that do not resolve when the pod starts: neither to an object of the
 * release, nor to an existing object named in `existing`, the text of the values.
 */
export function missingReferences(manifest: Manifest, manifests: readonly Manifest[], existing: string): string[] {
  const pod = podOf(manifest);
  if (!pod) return [];
  const { serviceAccountName, volumes, containers } = pod.spec;
  const isThere = (kind: string, name: string) => {
    const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
    // Hooks run before all other objects, so their objects must be hooks too.
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
