import type { Entry } from './find.ts';

interface Command {
  title: string;
  /** Further search words for the command. */
  words?: string;
  needs?: string;
  href?: string;
  /** The button of the page that runs it. */
  press?: string;
}

/**
 * Returns the commands available here, most frequent first; with words, only commands that match the beginning of each
 * word. The data of the palette's element hold the addresses of the wiki and its workspace, the user's permissions, and
 * the page, if any.
 */
export function findCommands(data: DOMStringMap, words = ''): Entry[] {
  const typed = wordsOf(words);
  const may = new Set((data.can ?? '').split(' '));
  return commandsOf(data)
    .filter(({ needs }) => needs === undefined || may.has(needs))
    .filter((command) => {
      const own = wordsOf(`${command.title} ${command.words ?? ''}`);
      return typed.every((word) => own.some((other) => other.startsWith(word)));
    })
    .filter(({ press }) => press === undefined || document.querySelector(press) !== null)
    .map(({ title, href = '', press = '' }) => ({ kind: 'command', href, title, where: '', snippet: '', press }));
}

function commandsOf({ root = '', workspace = '', page = '', pageId = '' }: DOMStringMap): Command[] {
  const action = (name: string) => `${root}/-/${name}`;
  return [
    { title: 'New page', words: 'create write', needs: 'pages:write', href: action('new') },
    ...(page === '' ? [] : pageCommands(action, page, pageId)),
    { title: 'Upload', words: 'import files folder', needs: 'uploads:create', href: action('upload') },
    { title: 'Tags', href: action('tags') },
    { title: 'Templates', words: 'new page', needs: 'pages:write', href: action('templates') },
    { title: 'Sources', words: 'files', needs: 'sources:read', href: action('sources') },
    { title: 'Trash', words: 'deleted restore', needs: 'pages:write', href: action('trash') },
    { title: 'Stale pages', words: 'changed sources review', needs: 'pages:write', href: action('stale') },
    { title: 'Broken links', needs: 'pages:write', href: action('broken-links') },
    { title: 'Export and import', words: 'download backup', needs: 'wikis:export', href: action('transfer') },
    {
      title: 'Invite people',
      words: 'members invitation',
      needs: 'members:manage',
      href: `${workspace}/-/members`,
    },
    { title: 'Settings', words: 'members workspace', needs: 'members:read', href: `${workspace}/-/members` },
    { title: 'All wikis', words: 'workspace switch', href: workspace },
    { title: 'Your profile', words: 'settings account', href: '/me' },
    ...['Auto', 'Light', 'Dark'].map((name) => ({
      title: `Theme: ${name.toLowerCase()}`,
      words: 'colours colors mode',
      press: `.theme button[value="${name.toLowerCase()}"]`,
    })),
    { title: 'Sign out', words: 'log logout', press: 'form[action="/sign-out"] button' },
  ];
}

function pageCommands(action: (name: string) => string, page: string, pageId: string): Command[] {
  return [
    { title: 'Edit this page', words: 'write', needs: 'pages:write', href: action(`edit/${page}`) },
    { title: 'New subpage', words: 'create', needs: 'pages:write', href: `${action('new')}?parent=${pageId}` },
    { title: 'Rename or move', words: 'address parent', needs: 'pages:write', href: action(`move/${page}`) },
    { title: 'History', words: 'revisions changes restore', href: action(`history/${page}`) },
  ];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
