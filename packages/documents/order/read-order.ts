/** The order of pages as read from one order file. */
export interface OrderFile {
  /** Addresses or names of files and folders, in order. They may omit extensions. */
  paths: readonly string[];
  /** Entries that come after all unlisted files. */
  last?: readonly string[];
  /** The base folder of `paths`, relative to the file's folder; by default the file's folder itself. */
  root?: string;
  /** The weight of the file's folder among its siblings. Smaller weights come first. */
  weight?: number;
}

/** not_order: the file only shares the name of an order file, or specifies no order. */
export type ReadOrder = OrderFile | 'not_order' | 'broken';

/** Larger order files are not read. In bytes. */
export const ORDER_BYTES_MAX = 2 ** 17;

/** Further names in a file are ignored. */
export const PATHS_MAX = 20_000;

/** Lists that are nested deeper are ignored. */
export const DEPTH_MAX = 20;
