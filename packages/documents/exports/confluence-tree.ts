/** A page listed in `index.html`, with its file name relative to that file. */
interface Listed {
  filename: string;
  title: string;
  depth: number;
}

/** Deeper pages become siblings at this depth. */
const DEPTH_MAX = 18;

const TOKEN = /<(\/?)(ul|li)\b[^<>]{0,200}>|<a\s[^<>]{0,200}?href="([^"<>]{1,300})"[^<>]{0,200}>([^<]{0,300})/gi;

/**
 * Returns the names that the pages of a space would have in folders, in the order of the list in `index.html`:
 * `SP/Home_1.html` and, below it, `SP/Zebra_2.html` become `SP/Home.html` and `SP/Home/Zebra.html`. `folder`: the
 * folder of the index, "" or with a trailing slash. Unlisted pages are omitted and keep their names. Only tags are
 * scanned, because parsing has no time limit here.
 */
export function confluenceTree(html: string, folder: string, filenames: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>();
  const used = new Set<string>();
  const above: string[] = [];
  for (const { filename, title, depth } of listedIn(html)) {
    const name = folder + filename;
    if (!filenames.has(name) || names.has(name)) continue;
    above.length = Math.min(depth, above.length);
    const own = nameOf(filename, title);
    const parent = above.at(-1) ?? folder;
    let base = parent + own;
    for (let n = 2; used.has(base.toLowerCase()); n += 1) base = `${parent}${own} ${n}`;
    used.add(base.toLowerCase());
    names.set(name, `${base}.html`);
    above.push(above.length < DEPTH_MAX ? `${base}/` : parent);
  }
  return names;
}

function* listedIn(html: string): Generator<Listed> {
  let depth = 0;
  for (const [, end, tag, href = '', title = ''] of html.matchAll(TOKEN)) {
    if (tag?.toLowerCase() === 'ul') depth = Math.max(0, depth + (end ? -1 : 1));
    else if (tag === undefined && depth > 0 && /^[^/:?#]+\.html?$/i.test(href))
      yield { filename: decoded(href), title: title.trim(), depth: depth - 1 };
  }
}

/** Returns the title in a file name, without the id, or the listed title if the file name is only an id. */
function nameOf(filename: string, title: string): string {
  const [, name = ''] = /^(.*?)_?\d+\.html?$/i.exec(filename) ?? [];
  return (name || title.replace(/[/\\]+/g, '-') || filename).replace(/^\.+/, '') || filename;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('&amp;', '&'));
  } catch {
    return text;
  }
}
