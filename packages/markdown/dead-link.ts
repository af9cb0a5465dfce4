/** What the keys of addresses begin with that no page can have. */
export const DEAD = '<';
