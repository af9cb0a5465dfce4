/** Pairs whose result differs from both orders, each with the reason why that is acceptable. */
export const ACCEPTED: readonly (readonly [pair: RegExp, why: string])[] = [
  [
    /^(sign out|end a session|delete the account).* \| (sign out|delete the account|refresh)/,
    'a request that has begun goes on, also where its session ends meanwhile',
  ],
  [
    /^(move|change the slug).* \| create/,
    'a text is rendered for the place where the page above it was, and is shown as it has to be',
  ],
  [/^trash a leaf \| create from a template$/, 'the template was read before it went'],
  [/^ingest \(at/, 'what comes between two steps of an upload is in its summary'],
  [/^ingest.* \| (cancel|delete the wiki)/, 'of an upload that is cancelled what was done before stays'],
  [
    /^(create a page \| run the import|run the import \(at import_pages\) \| create a page)$/,
    'the next attempt finds the page, and says so',
  ],
  [
    /^run the import \(at pages\) \| create a page$/,
    'a text is rendered before the lock, and its links find what has come',
  ],
  [/^run the import \(at import_pages\) \| (cancel|delete)/, 'how far it was is shown'],
  [
    /^(upload|send|retry|complete|export|import).* \| delete the wiki$/,
    'a job that was enqueued meanwhile is cancelled when what the wiki held is removed',
  ],
  [
    /^delete the wiki \| (upload|cancel|retry|complete|export|import)/,
    'a request that has begun goes on: what it writes is of a wiki that no one sees, and is removed with it',
  ],
];
