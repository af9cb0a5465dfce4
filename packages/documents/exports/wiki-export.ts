/** Describes how to recognize an export of another wiki by its file names. */
export interface WikiExport {
  /** The product name, as shown in the summary of an upload. */
  name: string;
  /** Tells whether files with these names are such an export. Names include their folders. */
  isIn(filenames: readonly string[]): boolean;
  /** Tells whether a file only belongs to the export, so that it becomes no page. */
  isNoPage?(filename: string): boolean;
  /** A sentence about content that is not imported. */
  advice?: string;
}
