import type { Endpoint } from '../endpoint.ts';

/** Derives the operation ID from the summary: `Rename a wiki` becomes renameWiki. */
export function operationId(endpoint: Endpoint): string {
  const words = endpoint.summary
    .replace(/'s\b/g, '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '' && !/^(a|an|the|of|its)$/i.test(word));
  return words.map((word, i) => (i === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}
