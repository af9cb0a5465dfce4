import type { CompiledUploadFile } from './compiled-upload.ts';

/** Delays the pages of new folders until a page below them arrives. */
export interface HeldFolders {
  /** Passes pages through, but emits the page of a folder only before the first page below it. */
  release(compiled: AsyncIterable<readonly CompiledUploadFile[]>): AsyncGenerator<readonly CompiledUploadFile[]>;
  /** Returns the folders without any page, which are done and get no page. */
  empty(): CompiledUploadFile[];
}

/** `compiled` must have parents before their children. */
export function holdFolders(): HeldFolders {
  const held = new Map<string, CompiledUploadFile>();

  function releasedBy({ file, page }: CompiledUploadFile): CompiledUploadFile[] {
    if (!page) return [];
    const segments = file.page_path.split('/');
    return segments.slice(0, -1).flatMap((_, i) => {
      const path = segments.slice(0, i + 1).join('/');
      const folder = held.get(path);
      held.delete(path);
      return folder ?? [];
    });
  }

  return {
    async *release(compiled) {
      for await (const pages of compiled) {
        const released: CompiledUploadFile[] = [];
        for (const each of pages) {
          if (each.file.kind === 'folder' && each.page) held.set(each.file.page_path, each);
          else released.push(...releasedBy(each), each);
        }
        if (released.length > 0) yield released;
      }
    },
    empty: () => [...held.values()].map((folder) => ({ ...folder, page: undefined })),
  };
}
