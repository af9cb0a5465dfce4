/** Where a message waits for the next document of this tab. */
export const FLASH_KEY = 'ibid-flash';
