/** The first character of the keys of addresses that no page can have. */
export const DEAD = '<';
