/** Where a message waits for the next document of this tab. */
export const FLASH_KEY = 'ibid-flash';

/** The message, as JSON. */
export interface WaitingFlash {
  text: string;
  /** Where it leads. */
  link?: { href: string; name: string };
}
