/** In characters. */
const LONGEST = 60;
/** Control and format characters (which can reverse the text direction), line separators, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\s]+/gu;
const QUOTES = /["“”„‟«»‹›<>`]/gu;
/** Text that mail programs turn into a link: a scheme, an e-mail address, a host with a path or www, an IP address. */
const LINKS =
  /\S*:\/\/\S*|(?:mailto|tel|sms|javascript|data|https?):\S*|\S*@\S*|\S+[.。]\S+[/\\]\S*|www[.。]\S*|\d+\.\d+\.\d+\.\d+\S*/giu;
/** Dots in possible host names. */
const DOTS = /(?<=[\p{L}\p{N}-])[.。](?=[\p{L}\p{N}])/gu;

/**
 * Sanitizes a user-chosen name for a message to other people: one line of at most 60 characters that mail programs do
 * not turn into a link, and that cannot end a quotation. Put it in double quotes. Returns `fallback` if no letter or
 * digit is left.
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
