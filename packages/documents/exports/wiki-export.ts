/** An export of another wiki, as its files are called. */
export interface WikiExport {
  /** The product, as the summary of an upload calls it. */
  name: string;
  /** Whether files of these names are one. Their folders are part of the names. */
  isIn(filenames: readonly string[]): boolean;
  /** Whether a file belongs to the export and not to the wiki, so that it becomes no page. */
  isNoPage?(filename: string): boolean;
  /** What people should know of what does not arrive; a sentence. */
  advice?: string;
}
