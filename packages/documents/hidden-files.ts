/** Files that operating systems and version control add, in any folder. */
const SYSTEM_FILE =
  /(?:^|\/)(?:__MACOSX\/|\.(?:DS_Store|localized|git|svn|hg)(?:\/|$)|\._[^/]*$|Thumbs\.db$|desktop\.ini$|Icon\r$)/i;

/** Hidden files and folders, except order files. */
const HIDDEN = /(?:^|\/)\.(?!(?:order|pages|nav\.ya?ml)$)[^./][^/]*(?:\/|$)/i;

/** Characters of an address that are read after the name of a hidden folder. */
const ADDRESS_MAX = 300;

/** The maximum number of addresses read from one text. */
const MENTIONS_MAX = 20_000;

/**
 * Tells whether a file was added by a system rather than the author: `.DS_Store`, `__MACOSX/…`, `Thumbs.db`, `.git/…`.
 */
export function isSystemFile(filename: string): boolean {
  return SYSTEM_FILE.test(filename);
}

/** Tells whether a file or any of its folders is hidden: its name begins with a dot. */
export function isHidden(filename: string): boolean {
  return HIDDEN.test(filename) || SYSTEM_FILE.test(filename);
}

/**
 * Finds the hidden files that texts mention by folder and name (`.gitbook/assets/a.png`). These files are shown, so
 * they are uploaded too. Call `read` with each text, then `isMentioned` with the names of hidden files.
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
