/** In characters. */
const LONGEST = 60;
/** Control and format characters (which turn the direction of text), line separators and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\s]+/gu;
const QUOTES = /["“”„‟«»‹›<>`]/gu;
/** What mail programs make a link of: a scheme, an address, a host with a path or www, an IP address. */
const LINKS =
  /\S*:\/\/\S*|(?:mailto|tel|sms|javascript|data|https?):\S*|\S*@\S*|\S+[.。]\S+[/\\]\S*|www[.。]\S*|\d+\.\d+\.\d+\.\d+\S*/giu;
/** The dots of what may be a host name. */
const DOTS = /(?<=[\p{L}\p{N}-])[.。](?=[\p{L}\p{N}])/gu;

/**
 * A name that a person chose, for a message to others: one line of at most 60 characters that no mail program makes a
 * link of, and that cannot end a quotation. Put it in double quotes. `fallback`: for a name of which nothing is left.
 */
export function plainName(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(UNPRINTABLE, ' ')
    .replace(QUOTES, "'")
    .replace(LINKS, '…')
    .replace(DOTS, ' ')
    .replace(/ +/g, ' ')
    .trim();
  const characters = [...plain];
  if (!/[\p{L}\p{N}]/u.test(plain)) return fallback;
  return characters.length <= LONGEST ? plain : `${characters.slice(0, LONGEST).join('').trim()}…`;
}
