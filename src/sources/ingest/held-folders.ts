import type { CompiledUploadFile } from './compiled-upload.ts';

/** Holds the pages of new folders back until a page comes that lies below them. */
export interface HeldFolders {
  /** The same pages, but for those of folders, which come in front of the first page below them. */
  release(compiled: AsyncIterable<readonly CompiledUploadFile[]>): AsyncGenerator<readonly CompiledUploadFile[]>;
  /** Folders in which no file became a page: they are done, and get none. */
  empty(): CompiledUploadFile[];
}

/** `compiled` must come with parents before what lies below them. */
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
