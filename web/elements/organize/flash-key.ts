/** Storage key of a message for the next document of this tab. */
export const FLASH_KEY = 'ibid-flash';

/** The stored message, as JSON. */
export interface WaitingFlash {
  text: string;
  link?: { href: string; name: string };
}
