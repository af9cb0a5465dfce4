import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { PACKAGES } from '../src/programs/packages.ts';
import type { AssetUrls } from './visit.ts';

export interface Assets extends AssetUrls {
  /** A hash of all files for browsers together. */
  readonly version: string;
  /** A file in the best encoding that the client accepts; undefined if the name or the version is unknown. */
  read(version: string, name: string, acceptEncoding: string): Promise<AssetFile | undefined>;
  close(): Promise<void>;
}

export interface AssetFile {
  bytes: Buffer;
  type: string;
  encoding: 'br' | 'gzip' | undefined;
}

interface PackedFile {
  type: string;
  plain: Buffer;
  br: Promise<Buffer>;
  gzip: Promise<Buffer>;
}

const WEB = fileURLToPath(new URL('./', import.meta.url));

/** The bundles and their entry files. Further files of a bundle have addresses below its name: `math/KaTeX_Main.woff2`. */
const ENTRIES: Record<string, string> = {
  'style.css': 'styles/style.css',
  'developers.css': 'styles/developers.css',
  'reader.js': 'elements/reader.ts',
  'tree-waiting.js': 'elements/tree-waiting.ts',
  'organize.js': 'elements/organize/organize.ts',
  'reading.js': 'elements/reading/reading.ts',
  'editor.js': 'elements/editor/editor.ts',
  'upload.js': 'elements/upload/upload.ts',
  'job.js': 'elements/upload/running-job.ts',
  'settings.js': 'elements/settings.ts',
  'widgets.js': 'elements/widgets/widgets.ts',
  'frame.js': 'elements/widgets/frame.ts',
  'diagrams.js': 'elements/diagrams.ts',
  'embeds.js': 'elements/embeds/embeds.ts',
  'diagram-frame.js': 'elements/diagram-frame.ts',
  'mermaid.js': `${PACKAGES}/@mermaid-js/tiny/dist/mermaid.tiny.js`,
  'viewer.js': 'elements/viewer/viewer.ts',
  'pdf-frame.js': 'elements/pdf/frame.ts',
  'pdf-worker.js': `${PACKAGES}/pdfjs-dist/build/pdf.worker.mjs`,
  'math.js': 'elements/math.ts',
  'passages.js': 'elements/passages.ts',
  'conflict.js': 'elements/saving/conflict.ts',
  'draft-worker.js': 'elements/saving/draft-worker.ts',
  'rich-text.js': 'elements/editor/rich-text.ts',
  'code-colours.js': 'elements/editor/highlight-code.ts',
  'emoji-names.js': 'elements/editor/emoji-names.ts',
  'reference.js': 'elements/reference/reference.ts',
  'properties.js': 'elements/editor/text/properties/properties.ts',
};

/** Further entries of a bundle, by their names below its own; what they have in common they load once. */
const MORE_ENTRIES: Record<string, Record<string, string>> = {
  'widgets.js': {
    'widgets/profile': 'elements/widgets/profile.ts',
    'widgets/enterprise': 'elements/widgets/enterprise.ts',
    'widgets/developers': 'elements/widgets/developers.ts',
  },
};

/** The package's build for browsers, which contains all that it depends on. */
const ALIAS = { 'openapi-explorer': `${PACKAGES}/openapi-explorer/dist/browser/openapi-explorer.min.js` };

/** Files of PDF.js that its viewer reads where a PDF needs them: tables of encodings, fonts, decoders of images. */
const PDFJS_FILE = /^pdfjs\/((?:cmaps|standard_fonts|wasm)\/[\w-]+\.(?:bcmap|pfb|ttf|wasm))$/;

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  woff2: 'font/woff2',
};

/**
 * The files that browsers load. Each is bundled on its first request and then kept in memory. Its address contains a hash
 * of the sources and of the pinned bundler and libraries, so caches may keep it for ever.
 */
export function openAssets(): Assets {
  const version = hashOfSources();
  const bundles = new Map<string, Promise<Map<string, PackedFile>>>();
  let hasBundled = false;

  async function bundle(entry: string): Promise<Map<string, PackedFile>> {
    hasBundled = true;
    const { build } = await import('esbuild');
    const name = entry.replace(/\.\w+$/, '');
    const entries = { [name]: ENTRIES[entry] ?? '', ...MORE_ENTRIES[entry] };
    const { outputFiles } = await build({
      entryPoints: Object.entries(entries).map(([out, file]) => ({ in: resolve(WEB, file), out })),
      splitting: entry in MORE_ENTRIES,
      chunkNames: `${name}/[name]-[hash]`,
      outdir: '/',
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: ['es2022'],
      assetNames: `${name}/[name]-[hash]`,
      // Mermaid is one bundle already, and is copied as it is.
      loader: { '.tiny.js': 'copy', '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
      alias: ALIAS,
      legalComments: 'none',
      logLevel: 'silent',
    });
    return new Map(outputFiles.map(({ path, contents }) => [path.slice(1), pack(path, Buffer.from(contents))]));
  }

  return {
    version,
    url: (name) => `/assets/${version}/${name}`,
    async read(asked, name, acceptEncoding) {
      const [, pdfjsFile] = PDFJS_FILE.exec(name) ?? [];
      if (pdfjsFile !== undefined) return asked === version ? readPdfjsFile(pdfjsFile) : undefined;
      const folder = name.split('/', 1)[0] ?? '';
      const entry = Object.keys(ENTRIES).find(
        (key) => key === name || key.replace(/\.\w+$/, '') === folder.replace(/\.\w+$/, ''),
      );
      if (asked !== version || entry === undefined) return undefined;
      let files = bundles.get(entry);
      if (!files) {
        files = bundle(entry);
        bundles.set(entry, files);
        files.catch(() => bundles.delete(entry));
      }
      const file = (await files).get(name);
      if (!file) return undefined;
      const encoding = chooseEncoding(acceptEncoding);
      return { bytes: encoding ? await file[encoding] : file.plain, type: file.type, encoding };
    },
    async close() {
      // esbuild is a child process, which would outlive the service.
      if (hasBundled) await (await import('esbuild')).stop();
    },
  };
}

/** A file of PDF.js, as it is: they are rarely needed, and most are compressed. Undefined if there is none. */
async function readPdfjsFile(name: string): Promise<AssetFile | undefined> {
  try {
    const bytes = await readFile(join(PACKAGES, 'pdfjs-dist', name));
    return { bytes, type: 'application/octet-stream', encoding: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What we send, the best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/** The content coding that `Accept-Encoding` prefers, the smaller one of equals; undefined for none (RFC 9110, 12.5.3). */
export function chooseEncoding(acceptEncoding: string): AssetFile['encoding'] {
  // A longer one says no more, and takes long to compare.
  const headers = { 'accept-encoding': acceptEncoding.slice(0, 1_024) };
  const negotiator: PreferringNegotiator = new Negotiator({ headers });
  const chosen = negotiator.encoding(ENCODINGS, { preferred: ENCODINGS });
  return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
}

/** Its types do not know the option yet. */
interface PreferringNegotiator {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined;
}

/** 12 hex digits of a hash of the sources and of the pinned packages. */
function hashOfSources(): string {
  const hash = createHash('sha256');
  const files = globSync('{styles/**/*.css,elements/**/*.ts,elements/**/*.css}', { cwd: WEB }).sort();
  const [lockfile = ''] = globSync('../{package-lock,npm-shrinkwrap}.json', { cwd: WEB }).sort().reverse();
  for (const file of [...files, lockfile, 'assets.ts']) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(WEB, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 12);
}

function pack(path: string, plain: Buffer): PackedFile {
  const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  // Brotli at quality 11 takes about a second for each 300 kB, during which the first request waits.
  const quality = plain.length > 1_000_000 ? 9 : 11;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  let br: Promise<Buffer> | undefined;
  let gz: Promise<Buffer> | undefined;
  return {
    type,
    plain,
    get br() {
      return (br ??= promisify(brotliCompress)(plain, { params }));
    },
    get gzip() {
      return (gz ??= promisify(gzip)(plain, { level: 9 }));
    },
  };
}
