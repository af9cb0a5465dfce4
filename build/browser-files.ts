import { createHash } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import type { BuildInfo } from '../src/platform/core/package/package-files.ts';

const ENTRIES = {
  style: 'web/styles/style.css',
  developers: 'web/styles/developers.css',
  reader: 'web/elements/reader.ts',
  'tree-waiting': 'web/elements/tree-waiting.ts',
  organize: 'web/elements/organize/organize.ts',
  reading: 'web/elements/reading/reading.ts',
  editor: 'web/elements/editor/editor.ts',
  upload: 'web/elements/upload/upload.ts',
  job: 'web/elements/upload/running-job.ts',
  settings: 'web/elements/settings.ts',
  frame: 'web/elements/widgets/frame.ts',
  diagrams: 'web/elements/diagrams.ts',
  embeds: 'web/elements/embeds/embeds.ts',
  'diagram-frame': 'web/elements/diagram-frame.ts',
  mermaid: 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js',
  viewer: 'web/elements/viewer/viewer.ts',
  'pdf-frame': 'web/elements/pdf/frame.ts',
  'pdf-worker': 'node_modules/pdfjs-dist/build/pdf.worker.mjs',
  math: 'web/elements/math.ts',
  passages: 'web/elements/passages.ts',
  conflict: 'web/elements/saving/conflict.ts',
  'draft-worker': 'web/elements/saving/draft-worker.ts',
  'rich-text': 'web/elements/editor/rich-text.ts',
  'code-colours': 'web/elements/editor/highlight-code.ts',
  'emoji-names': 'web/elements/editor/emoji-names.ts',
  reference: 'web/elements/reference/reference.ts',
  properties: 'web/elements/editor/text/properties/properties.ts',
};

/** Widgets share common chunks: a page may show several widgets. */
const WIDGETS = {
  widgets: 'web/elements/widgets/widgets.ts',
  'widgets/profile': 'web/elements/widgets/profile.ts',
  'widgets/enterprise': 'web/elements/widgets/enterprise.ts',
  'widgets/developers': 'web/elements/widgets/developers.ts',
};

/**
 * Folders of PDF.js with encodings, fonts and decoders that its viewer loads on demand. The service reads `cmaps` too.
 */
const PDFJS = ['cmaps', 'standard_fonts', 'wasm'];

const OPTIONS = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  assetNames: 'fonts/[name]-[hash]',
  chunkNames: 'widgets/[name]-[hash]',
  // Mermaid is already a single bundle, and is copied unchanged.
  loader: { '.tiny.js': 'copy', '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
  // The package's build for browsers, which contains all of its dependencies.
  alias: { 'openapi-explorer': './node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js' },
  legalComments: 'none',
  logLevel: 'error',
} satisfies BuildOptions;

/** Writes the files that browsers load into a folder. `isFast` compresses less: in a checkout a start waits for it. */
export async function buildBrowserFiles(root: string, outdir: string, isFast: boolean): Promise<BuildInfo['assets']> {
  const options = { ...OPTIONS, absWorkingDir: root, outdir };
  await Promise.all([
    build({ ...options, entryPoints: ENTRIES }),
    build({ ...options, entryPoints: WIDGETS, splitting: true }),
  ]);
  const hash = createHash('sha256');
  const files: Record<string, boolean> = {};
  const names = (await readdir(outdir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(outdir.length + 1))
    .sort();
  const compressing: Promise<void>[] = [];
  for (const name of names) {
    const bytes = await readFile(join(outdir, name));
    hash.update(`${name}\0`).update(bytes);
    const isText = !name.endsWith('.woff2');
    files[name] = isText;
    if (isText) compressing.push(compress(join(outdir, name), bytes, isFast));
  }
  await Promise.all(compressing);
  for (const folder of PDFJS) {
    const from = join(root, 'node_modules/pdfjs-dist', folder);
    await cp(from, join(outdir, 'pdfjs', folder), { recursive: true });
    for (const name of await readdir(from)) files[`pdfjs/${folder}/${name}`] = false;
  }
  return { version: hash.digest('hex').slice(0, 12), files };
}

async function compress(path: string, bytes: Buffer, isFast: boolean): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: isFast ? 4 : 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((br) => writeFile(`${path}.br`, br)),
    promisify(gzip)(bytes, { level: isFast ? 4 : 9 }).then((gz) => writeFile(`${path}.gz`, gz)),
  ]);
}
