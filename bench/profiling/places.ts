import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Call } from './inspector.ts';

/** Where a function is: `src/http/server.ts`, a package such as `pg`, or `node:net`; `V8` for what is in none. */
export type PlaceOf = (call: Call) => string;

/** The service runs as a bundle, in which a comment names the file that each part was. */
const FILE_COMMENT = /^\/\/ ((?:\.\.\/)*(?:src|web|node_modules)\/\S+)$/;
const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)/;

export function openPlaces(): PlaceOf {
  const bundles = new Map<string, string[]>();

  function filesOf(url: string): string[] {
    let files = bundles.get(url);
    if (files) return files;
    let file = '';
    files = readFileSync(fileURLToPath(url), 'utf8')
      .split('\n')
      .map((line) => (file = FILE_COMMENT.exec(line)?.[1] ?? file));
    bundles.set(url, files);
    return files;
  }

  return ({ url, line }) => {
    if (url === '') return 'V8';
    if (!url.startsWith('file:')) return url;
    const file = url.endsWith('.mjs') && url.includes('/.cache/ibid/') ? filesOf(url)[line] : fileURLToPath(url);
    return PACKAGE.exec(file ?? '')?.[1] ?? file?.replace(/^.*?\b(?=(src|web)\/)/, '') ?? url;
  };
}
