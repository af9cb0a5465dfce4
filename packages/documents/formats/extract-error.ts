export type ExtractCode = 'unsupported_type' | 'not_text' | 'bad_encoding' | 'empty_file' | 'too_large' | 'unreadable';

/** The reason why a file cannot become a page. The message is shown to the user and says what to do. */
export class ExtractError extends Error {
  readonly code: ExtractCode;

  constructor(code: ExtractCode, message: string) {
    super(message);
    this.code = code;
  }
}
