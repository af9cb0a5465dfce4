/** A link to the text of a source, stored in the link element as JSON. */
export interface SourceLink {
  name: string;
  /** The API path of its text. */
  text: string;
  /** The passage, in UTF-16 units of the text. */
  start: number;
  end: number;
}
