/** What a file says about the order of the files around it. */
export interface OrderFile {
  /** Addresses or names of files and folders, in their order. Their extensions may be left out. */
  paths: readonly string[];
  /** Those that come behind everything that no list names. */
  last?: readonly string[];
  /** The folder that they start from, below that of the file; else they start from the file's own. */
  root?: string;
  /** Where the folder of the file stands among those beside it: small ones first. */
  weight?: number;
}

/** not_order: the file has that name for another reason, or says nothing of an order. */
export type ReadOrder = OrderFile | 'not_order' | 'broken';

/** An order file that is larger is not read, in bytes. */
export const ORDER_BYTES_MAX = 2 ** 17;

/** Further names of a file are not read. */
export const PATHS_MAX = 20_000;

/** Lists that are nested deeper are not read. */
export const DEPTH_MAX = 20;
