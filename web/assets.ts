import { readFile } from 'node:fs/promises';
import Negotiator from 'negotiator';
import { BUILT, buildInfo } from '../src/platform/core/package/package-files.ts';
import type { AssetUrls } from './visit.ts';

export interface Assets extends AssetUrls {
  /** A hash of all files for browsers together. */
  readonly version: string;
  /** Returns a file in the best encoding that the client accepts; undefined if the name or the version is unknown. */
  read(version: string, name: string, acceptEncoding: string): Promise<AssetFile | undefined>;
}

export interface AssetFile {
  bytes: Buffer;
  type: string;
  encoding: 'br' | 'gzip' | undefined;
}

const FOLDER = new URL('assets/', BUILT);
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  woff2: 'font/woff2',
};
const SUFFIXES = { br: '.br', gzip: '.gz' };

/**
 * Opens the files for browsers that build/browser-files.ts made. Their addresses contain the version, so caches may
 * keep them forever.
 */
export function openAssets(): Assets {
  const { version, files } = buildInfo().assets;
  return {
    version,
    url: (name) => `/assets/${version}/${name}`,
    async read(asked, name, acceptEncoding) {
      if (asked !== version || !Object.hasOwn(files, name)) return undefined;
      const encoding = files[name] ? chooseEncoding(acceptEncoding) : undefined;
      const bytes = await readFile(new URL(name + (encoding ? SUFFIXES[encoding] : ''), FOLDER));
      return { bytes, type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream', encoding };
    },
  };
}

/** Supported content codings, best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding that `Accept-Encoding` prefers, the smaller result if two are equal; undefined for none
 * (RFC 9110, 12.5.3).
 */
export function chooseEncoding(acceptEncoding: string): AssetFile['encoding'] {
  // A longer header adds no information and takes long to parse.
  const headers = { 'accept-encoding': acceptEncoding.slice(0, 1_024) };
  const negotiator: PreferringNegotiator = new Negotiator({ headers });
  const chosen = negotiator.encoding(ENCODINGS, { preferred: ENCODINGS });
  return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
}

/** The type declarations lack this option. */
interface PreferringNegotiator {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined;
}
