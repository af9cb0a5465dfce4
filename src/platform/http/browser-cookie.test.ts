import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieOf } from './browser-cookie.ts';

test('cookies are parsed as in RFC 6265, and a duplicate cookie is ignored', () => {
  const examples: [cookie: string | undefined, value: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    // Examples of RFC 6265, 3.1.
    ['SID=31d4d96e407aad42', '31d4d96e407aad42'],
    ['SID=31d4d96e407aad42; lang=en-US', '31d4d96e407aad42'],
    ['lang=en-US; SID=31d4d96e407aad42', '31d4d96e407aad42'],
    ['lang=en-US', undefined],
    // Names are case-sensitive (4.1.1), and a value may contain "=".
    ['sid=a', undefined],
    ['XSID=a; SIDX=b', undefined],
    ['SID=a=b==', 'a=b=='],
    ['SID=', ''],
    ['lang;SID=a;;', 'a'],
    // 5.4: servers must not rely on the order of cookies, and another host of the domain may have set the duplicate.
    ['SID=a; SID=b', undefined],
    ['SID=a; SID=a', undefined],
  ];
  for (const [cookie, value] of examples) assert.equal(cookieOf({ headers: { cookie } }, 'SID'), value, cookie);
});
