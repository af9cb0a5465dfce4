import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';

const maps = new Map<string, SourceMap | undefined>();

function mapOf(bundle: string): SourceMap | undefined {
  if (!maps.has(bundle)) {
    const file = `${bundle}.map`;
    maps.set(bundle, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined);
  }
  return maps.get(bundle);
}

/**
 * Replaces positions in bundles by positions in the sources, in a text such as a stack. Only used for failures:
 * `--enable-source-maps` would make each process read maps of a megabyte.
 */
export function withSourcePlaces(text: string): string {
  return text.replace(/(?:file:\/\/)?(\/[^\s():]+\.mjs):(\d+):(\d+)/g, (place, bundle: string, line, column) => {
    const found = mapOf(bundle)?.findOrigin(Number(line), Number(column));
    if (!found || !('fileName' in found)) return place;
    return `${resolve(dirname(bundle), found.fileName)}:${found.lineNumber}:${found.columnNumber}`;
  });
}
