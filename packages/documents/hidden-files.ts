/** What operating systems and version control add to folders, wherever it is. */
const SYSTEM_FILE =
  /(?:^|\/)(?:__MACOSX\/|\.(?:DS_Store|localized|git|svn|hg)(?:\/|$)|\._[^/]*$|Thumbs\.db$|desktop\.ini$|Icon\r$)/i;

/** Hidden files and folders; those that say in which order the others are are none. */
const HIDDEN = /(?:^|\/)\.(?!(?:order|pages|nav\.ya?ml)$)[^./][^/]*(?:\/|$)/i;

/** How far behind the name of a hidden folder an address may go on, in characters. */
const ADDRESS_MAX = 300;

/** How many addresses of one text are read. */
const MENTIONS_MAX = 20_000;

/** Whether a file is none of its author's: `.DS_Store`, `__MACOSX/…`, `Thumbs.db`, `.git/…`. */
export function isSystemFile(filename: string): boolean {
  return SYSTEM_FILE.test(filename);
}

/** Whether a file, or a folder that it lies in, is hidden: its name begins with a dot. */
export function isHidden(filename: string): boolean {
  return HIDDEN.test(filename) || SYSTEM_FILE.test(filename);
}

/**
 * The hidden files that texts mention by their folders and names (`.gitbook/assets/a.png`): such a file is shown, and comes
 * along. Call `read` with each text, then `isMentioned` with the names of hidden files.
 */
export function mentionedFiles(): { read(text: string): void; isMentioned(filename: string): boolean } {
  const tails = new Set<string>();
  return {
    read(text) {
      let read = 0;
      for (const { 0: start, index } of text.matchAll(/\.[\w-][^\s/\\"'()<>|]{0,100}[/\\]|%2e[\w-]+(?:\/|%2f)/gi)) {
        read += 1;
        if (read > MENTIONS_MAX) return;
        const [address = ''] = text.slice(index, index + start.length + ADDRESS_MAX).split(/["<>|\n`]/, 1);
        const ends = [/[?#].*$/, /\)[^)]*$/, /\).*$/, /\s.*$/, /[?#)\s].*$/, /'.*$/];
        for (const each of [address, ...ends.map((end) => address.replace(end, ''))]) tails.add(tailKey(each));
      }
    },
    isMentioned(filename) {
      const at = filename.split('/').findIndex((segment) => segment.startsWith('.'));
      return at >= 0 && tails.has(tailKey(filename.split('/').slice(at).join('/')));
    },
  };
}

function tailKey(address: string): string {
  const path = address.replaceAll('\\', '/');
  try {
    return decodeURIComponent(path).normalize('NFC').toLowerCase();
  } catch {
    return path.normalize('NFC').toLowerCase();
  }
}
