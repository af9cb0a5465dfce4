/** The kind of content, which decides the shape of the frame. */
type EmbedKind = 'video' | 'slides' | 'document' | 'canvas' | 'code';

/** Content of another service that a page can show in a frame. */
export interface Embed {
  /** A label for users: "YouTube video". */
  name: string;
  kind: EmbedKind;
  /** The address of the frame, always https and on a host in FRAME_HOSTS. */
  frame: string;
}

interface Service {
  /** The hosts of addresses that users copy, without `www.`. */
  hosts: readonly string[];
  frames: readonly string[];
  find(url: URL): Embed | undefined;
}

/** Identifiers of services. They cannot end a path or a query. */
const ID = '[\\w-]{1,200}';

const YOUTUBE = 'https://www.youtube-nocookie.com/embed';

const SERVICES: readonly Service[] = [
  {
    hosts: ['youtube.com', 'm.youtube.com', 'music.youtube.com', 'youtu.be', 'youtube-nocookie.com'],
    frames: ['www.youtube-nocookie.com'],
    find({ hostname, pathname, searchParams }) {
      const list = matched(`^(${ID})$`, searchParams.get('list') ?? '');
      const id =
        matched(`^/(?:shorts|live|embed)/(${ID})`, pathname) ??
        (hostname === 'youtu.be'
          ? matched(`^/(${ID})`, pathname)
          : matched(`^(${ID})$`, (pathname === '/watch' && searchParams.get('v')) || ''));
      const query = new URLSearchParams({ autoplay: '1', rel: '0' });
      const start = secondsOf(searchParams.get('start') ?? searchParams.get('t') ?? '');
      if (start > 0) query.set('start', String(start));
      if (list) query.set('list', list);
      if (id && id !== 'videoseries') return video('YouTube video', `${YOUTUBE}/${id}?${query}`);
      return list ? video('YouTube playlist', `${YOUTUBE}/videoseries?${query}`) : undefined;
    },
  },
  {
    hosts: ['vimeo.com', 'player.vimeo.com'],
    frames: ['player.vimeo.com'],
    find({ pathname, searchParams }) {
      const [, id, key = searchParams.get('h') ?? ''] =
        /^\/(?:video\/|channels\/[\w-]+\/)?(\d{1,15})(?:\/([\da-f]{1,40}))?\/?$/.exec(pathname) ?? [];
      const query = new URLSearchParams({ dnt: '1', autoplay: '1', ...(key !== '' && { h: key }) });
      return id ? video('Vimeo video', `https://player.vimeo.com/video/${id}?${query}`) : undefined;
    },
  },
  {
    hosts: ['loom.com'],
    frames: ['www.loom.com'],
    find({ pathname }) {
      const id = matched('^/(?:share|embed)/(?:[\\w-]+-)?([\\da-f]{32})/?$', pathname);
      return id ? video('Loom video', `https://www.loom.com/embed/${id}?autoplay=1`) : undefined;
    },
  },
  {
    hosts: ['figma.com', 'embed.figma.com'],
    frames: ['embed.figma.com'],
    find({ pathname, searchParams }) {
      const [, type = '', key] = /^\/(file|design|proto|board|slides|deck)\/(\w{10,60})(?:\/|$)/.exec(pathname) ?? [];
      const query = new URLSearchParams({ 'embed-host': 'ibid' });
      for (const name of ['node-id', 'starting-point-node-id', 'page-id']) {
        const value = searchParams.get(name);
        if (value) query.set(name, value);
      }
      const name = { proto: 'Figma prototype', board: 'FigJam board', slides: 'Figma slides', deck: 'Figma slides' }[
        type
      ];
      const frame = `https://embed.figma.com/${type === 'file' ? 'design' : type}/${key}?${query}`;
      return key ? { name: name ?? 'Figma design', kind: 'canvas', frame } : undefined;
    },
  },
  {
    hosts: ['miro.com'],
    frames: ['miro.com'],
    find({ pathname }) {
      const id = matched('^/app/(?:board|live-embed|embed)/([\\w=-]{6,60})/?$', pathname);
      const frame = `https://miro.com/app/live-embed/${id}/?autoplay=true`;
      return id ? { name: 'Miro board', kind: 'canvas', frame } : undefined;
    },
  },
  {
    hosts: ['viewer.diagrams.net', 'app.diagrams.net', 'draw.io'],
    frames: ['viewer.diagrams.net'],
    // The fragment holds the diagram or its address. Options of the viewer are not copied.
    find: ({ hash }) =>
      /^#[A-Z]./.test(hash)
        ? {
            name: 'draw.io diagram',
            kind: 'canvas',
            frame: `https://viewer.diagrams.net/?lightbox=1&nav=1&layers=1${hash}`,
          }
        : undefined,
  },
  {
    hosts: ['codepen.io'],
    frames: ['codepen.io'],
    find({ pathname }) {
      const [, user, id] = /^\/(?:team\/)?([\w-]+)\/(?:pen|full|details|embed)\/(\w{4,40})\/?$/.exec(pathname) ?? [];
      const frame = `https://codepen.io/${user}/embed/${id}?default-tab=result`;
      return id ? { name: 'CodePen', kind: 'code', frame } : undefined;
    },
  },
  {
    hosts: ['docs.google.com', 'drive.google.com'],
    frames: ['docs.google.com', 'drive.google.com'],
    find: googleFile,
  },
];

const video = (name: string, frame: string): Embed => ({ name, kind: 'video', frame });

const GOOGLE: Record<string, Pick<Embed, 'name' | 'kind'> & { view: string }> = {
  document: { name: 'Google document', kind: 'document', view: 'preview' },
  spreadsheets: { name: 'Google spreadsheet', kind: 'document', view: 'preview' },
  presentation: { name: 'Google slides', kind: 'slides', view: 'embed' },
  drawings: { name: 'Google drawing', kind: 'canvas', view: 'preview' },
  forms: { name: 'Google form', kind: 'document', view: 'viewform?embedded=true' },
};

function googleFile({ hostname, pathname }: URL): Embed | undefined {
  // If a browser is signed in to several accounts, its addresses contain `/u/1`.
  const path = pathname.replace(/\/u\/\d+(?=\/)/, '');
  if (hostname === 'drive.google.com') {
    const file = matched(`^/file/d/(${ID})(?:/|$)`, path);
    const frame = `https://drive.google.com/file/d/${file}/preview`;
    return file ? { name: 'Google Drive file', kind: 'document', frame } : undefined;
  }
  const [, type = '', published, id] =
    /^\/(document|spreadsheets|presentation|drawings|forms)\/d\/(e\/)?([\w-]{8,200})(?:\/|$)/.exec(path) ?? [];
  const google = GOOGLE[type];
  if (!google || !id) return undefined;
  const { name, kind, view } = google;
  const shared = { document: 'pub?embedded=true', spreadsheets: 'pubhtml?widget=true', presentation: 'embed' }[type];
  const frame = `https://docs.google.com/${type}/d/${published ?? ''}${id}/${(published && shared) || view}`;
  return { name, kind, frame };
}

/** The hosts that frames of a page may come from, for the content security policy of pages. */
export const FRAME_HOSTS: readonly string[] = SERVICES.flatMap(({ frames }) => frames);

export const SERVICE_NAMES = 'YouTube, Vimeo, Loom, Figma, Miro, draw.io, CodePen, Google Docs or Google Drive';

/** Returns the embed for an address of a listed service; undefined for any other address. */
export function embedOf(address: string): Embed | undefined {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.port !== '' || url.username !== '') return undefined;
  const host = url.hostname.replace(/^www\./, '');
  return SERVICES.find(({ hosts }) => hosts.includes(host))?.find(url);
}

function matched(pattern: string, text: string): string | undefined {
  return new RegExp(pattern).exec(text)?.[1];
}

/** Parses `90`, `90s` and `1h2m3s` into seconds; 0 for anything else. */
function secondsOf(time: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d{1,3})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s?)?$/.exec(time) ?? [];
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
}
