import { Readable } from 'node:stream';
import yazl from 'yazl';

export interface ZipWriter {
  stream: Readable;
  /**
   * Writes a file; resolves when its bytes have been consumed. `packed` stores it uncompressed, because its content is
   * already compressed.
   */
  add(name: string, content: Readable | Buffer, packed?: boolean): Promise<void>;
  end(): void;
  fail(error: Error): void;
}

/** Fixed, so that equal files produce equal bytes at any time and in any time zone. */
const OPTIONS = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true };

/** Writes a ZIP, or ZIP64 if necessary, with at most one file in memory. */
export function openZipWriter(): ZipWriter {
  const zip = new yazl.ZipFile();
  const stream = zip.outputStream as Readable;
  const failed = new Promise<never>((_, reject) => {
    zip.once('error', reject);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the reader of the archive disconnected')));
  });
  // `add` throws a failure. Between two files and after the last one nothing waits for `failed`, so its rejection would
  // be unhandled.
  failed.catch(() => undefined);
  return {
    stream,
    async add(name, content, packed = false) {
      const source = Buffer.isBuffer(content) ? Readable.from([content]) : content;
      const taken = new Promise<void>((resolve, reject) => {
        source.once('error', reject);
        source.once('end', resolve);
        zip.addReadStreamLazy(name, { ...OPTIONS, compress: !packed }, (give) => give(null, source));
      });
      await Promise.race([taken, failed]).catch((error: unknown) => {
        source.destroy();
        throw error;
      });
    },
    end: () => zip.end(),
    fail: (error) => void stream.destroy(error),
  };
}
