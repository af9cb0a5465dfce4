/** What the viewer of a page shows of the text of a source: the data of the link that opens it, as JSON. */
export interface SourceLink {
  /** The name of the file. */
  name: string;
  /** The API path of its text. */
  text: string;
  /** The passage, in UTF-16 units of that text. */
  start: number;
  end: number;
}
