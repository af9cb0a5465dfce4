import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

/** Terms that the code base had of its own, each with the standard term that it uses now. */
const REPLACED: [RegExp, string][] = [
  [/\bopenDoor\b|\bthe door\b|\bwasAsked\b/, 'guard, AuthorizedDb'],
  [/\b[Ww]ish(?:es|ed)?\b|\bwriteWish\b|\bchangeOf\b/, 'PageUpdate, updatePage, diffUpdate'],
  [/\bfounds\b|\bisRepeatable\b|\brepeatable\b/, 'createsWorkspace, idempotent'],
  [/\badmit(?:Stray|Anybody|Token|Credential)\b/, 'limitUnmatched, limitAnonymous'],
  [/\bSECOND_LINE\b|\bAWAY\b/, 'CONSTRAINT_ERRORS, CONNECTION_ERRORS'],
  [/\b[a-z]\w+Steps?\b(?!\()/, '…Cte, …Clause'],
  [/\b[Cc]hores?\b|\blibrarian\b|\bupkeep\b|\bnewcomers\b/, 'job, scheduled job'],
  [/\binSeat\b|\bReadingSeats\b|\bafterComputing\b|\bcomputing time\b/i, 'ProcessPool, onCpuTimeout'],
  [/\bforgetUploads\b|\bthrow(?:n|s)? away\b|\bthrowAway\b/, 'expire, purge, sweep, prune'],
  [/\bsettleFile\b|\brefusePromise\b/, 'assembleFile, verifyChecksum'],
  [/\bkeepInBrowser\b/, 'createCookieSession'],
  [/\bfoldPending\b|\bfoldPostings\b|\bkeepIndexes\b/, 'merge'],
  [/\broomStep\b|\blinkArrived\b/, 'shiftSiblings, resolvePendingLinks'],
  [/\b[Dd]eeds?\b/, 'action'],
  [
    /\b[Ww]hoever\b|\b[Nn]obody\b|\b[Ss]omebody\b|\banew\b|\bso many\b/,
    'plain English: the caller, no request, a member, again',
  ],
];

/** What is said to people, and what people are said to have written, may have these words; so may SQL of released migrations. */
const QUOTED = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`\n]*`/g;

test('identifiers and comments use the standard terms', () => {
  const files = globSync('{packages,src,web,test,bench}/**/*.ts', { cwd: ROOT }).filter(
    (file) => !file.endsWith('words.test.ts'),
  );
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        const code = line.replace(QUOTED, '');
        return REPLACED.filter(([word]) => word.test(code)).map(
          ([, term]) => `${file}:${i + 1} → ${term}: ${line.trim()}`,
        );
      }),
  );
  assert.ok(files.length > 500, 'the files must be found');
  assert.deepEqual(found, [], 'use the term behind the arrow');
});
