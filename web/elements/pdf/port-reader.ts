import { PDFDataRangeTransport } from 'pdfjs-dist';
import type { FromFrame, ToFrame } from './messages.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Requests bytes from the embedding page, because the frame has no network access. */
export class PortReader {
  readonly #send: (message: FromFrame) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<Bytes>>();
  #last = 0;

  constructor(send: (message: FromFrame) => void) {
    this.#send = send;
  }

  /** Reads bytes [begin, end) of the file. Throws if they cannot be read. */
  readRange(begin: number, end: number): Promise<Bytes> {
    return this.#ask((id) => ({ kind: 'range', id, begin, end }));
  }

  /** Reads a file of PDF.js. Throws if it cannot be read. */
  readLibrary(name: string): Promise<Bytes> {
    return this.#ask((id) => ({ kind: 'library', id, name }));
  }

  receive({ id, bytes }: ToFrame & { kind: 'bytes' }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (bytes) waiting?.resolve(bytes);
    else waiting?.reject(new Error('cannot read the bytes'));
  }

  fail(): void {
    this.#send({ kind: 'problem' });
  }

  #ask(message: (id: number) => FromFrame): Promise<Bytes> {
    const waiting = Promise.withResolvers<Bytes>();
    this.#last += 1;
    this.#waiting.set(this.#last, waiting);
    this.#send(message(this.#last));
    return waiting.promise;
  }
}

/** Supplies the parts of the file to PDF.js. */
export class PortRanges extends PDFDataRangeTransport {
  readonly #reader: PortReader;

  constructor(length: number, beginning: Bytes, reader: PortReader) {
    super(length, beginning);
    this.#reader = reader;
  }

  override requestDataRange(begin: number, end: number): void {
    // PDF.js cannot handle a failed range and would wait forever, so report the problem.
    this.#reader.readRange(begin, end).then(
      (bytes) => this.onDataRange(begin, bytes),
      () => this.#reader.fail(),
    );
  }
}

/** Supplies PDF.js with its own files. PDF.js creates the instance itself and passes the names of folders. */
export class PortFactory {
  readonly #reader: PortReader;
  readonly #folders: Record<string, string | null>;

  constructor(reader: PortReader, folders: Record<string, string | null>) {
    this.#reader = reader;
    this.#folders = folders;
  }

  static reading(reader: PortReader): new (folders: Record<string, string | null>) => PortFactory {
    return class extends PortFactory {
      constructor(folders: Record<string, string | null>) {
        super(reader, folders);
      }
    };
  }

  fetch({ kind, filename }: { kind: string; filename: string }): Promise<Bytes> {
    return this.#reader.readLibrary(`${this.#folders[kind] ?? ''}${filename}`);
  }
}
