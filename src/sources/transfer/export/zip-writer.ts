import { Readable } from 'node:stream';
import yazl from 'yazl';

export interface ZipWriter {
  /** The archive, as it is written. */
  stream: Readable;
  /** Writes one file; when it answers, the file's bytes have been taken. `packed`: its bytes would not get fewer. */
  add(name: string, content: Readable | Buffer, packed?: boolean): Promise<void>;
  end(): void;
  /** Ends the archive in the middle, whatever is being written. */
  fail(error: Error): void;
}

/** The same files make the same bytes, whenever and in whatever time zone they are written. */
const OPTIONS = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true };

/** Writes a ZIP, in ZIP64 where it has to be, of which never more than one file is held in memory. */
export function openZipWriter(): ZipWriter {
  const zip = new yazl.ZipFile();
  const stream = zip.outputStream as Readable;
  const failed = new Promise<never>((_, reject) => {
    zip.once('error', reject);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the reader of the archive has gone')));
  });
  // A failure is thrown where a file is added; between two files there is no caller to tell.
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
