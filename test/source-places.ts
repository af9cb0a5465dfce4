import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { Transform } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';

const maps = new Map<string, SourceMap | undefined>();

function mapOf(bundle: string): SourceMap | undefined {
  if (!maps.has(bundle)) {
    const file = `${bundle}.map`;
    maps.set(bundle, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined);
  }
  return maps.get(bundle);
}

/** Where the source is that a place in a bundle was made of; undefined for what is no place in a bundle. */
function originOf(bundle: string, line: number, column: number) {
  const found = mapOf(bundle)?.findOrigin(line, column);
  if (!found || !('fileName' in found)) return undefined;
  return { file: resolve(dirname(bundle), found.fileName), line: found.lineNumber, column: found.columnNumber };
}

/** A text, such as a stack, in which the places in bundles are those in the sources. */
function withSourcePlaces(text: string): string {
  return text.replace(/(?:file:\/\/)?(\/[^\s():]+\.mjs):(\d+):(\d+)/g, (place, bundle: string, line, column) => {
    const origin = originOf(bundle, Number(line), Number(column));
    return origin ? `${origin.file}:${origin.line}:${origin.column}` : place;
  });
}

function placeError(error: unknown): void {
  if (!(error instanceof Error)) return;
  // That of an assertion cannot be assigned to.
  if (error.stack !== undefined) Object.defineProperty(error, 'stack', { value: withSourcePlaces(error.stack) });
  placeError(error.cause);
}

/**
 * Passes events of test files that ran without `--enable-source-maps`, with the places of the sources: with it each file reads maps
 * of a megabyte, though only what fails needs them.
 */
export function inSources(): Transform {
  return new Transform({
    objectMode: true,
    transform(event: TestEvent, _, done) {
      if (event.type === 'test:fail') {
        const { file, line, column, details } = event.data;
        placeError(details.error);
        if (file && line && column) Object.assign(event.data, originOf(file, line, column));
      }
      if (event.type === 'test:stderr' || event.type === 'test:stdout')
        event.data.message = withSourcePlaces(event.data.message);
      done(null, event);
    },
  });
}
