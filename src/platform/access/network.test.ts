import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf, plainAddress } from './network.ts';

test('all spellings of an address give the same network', () => {
  const same: Record<string, string[]> = {
    // RFC 4291, 2.2, and RFC 5952, 1, 2 and 4.
    '2001:db8:0:0::/64': [
      '2001:db8:0:0:1:0:0:1',
      '2001:0db8:0:0:1:0:0:1',
      '2001:db8::1:0:0:1',
      '2001:db8::0:1:0:0:1',
      '2001:0db8::1:0:0:1',
      '2001:db8:0:0:1::1',
      '2001:db8:0000:0:1::1',
      '2001:DB8:0:0:1::1',
      '2001:db8::1',
      '2001:db8::',
      '[2001:db8::1]',
      '[2001:db8::1]:80',
    ],
    '2001:db8:aaaa:bbbb::/64': ['2001:db8:aaaa:bbbb:cccc:dddd:eeee:1', '2001:db8:AAAA:BBBB:cccc:dddd:eeee:0001'],
    'abcd:ef01:2345:6789::/64': ['ABCD:EF01:2345:6789:ABCD:EF01:2345:6789'],
    '2001:db8:0:cd30::/64': [
      '2001:0DB8:0000:CD30:0000:0000:0000:0000',
      '2001:0DB8::CD30:0:0:0:0',
      '2001:0DB8:0:CD30::',
    ],
    'ff01:0:0:0::/64': ['FF01::101', 'FF01:0:0:0:0:0:0:101'],
    '0:0:0:0::/64': ['::1', '::', '0:0:0:0:0:0:0:1', '0:0:0:0:0:0:13.1.68.3', '::13.1.68.3'],
    'fe80:0:0:0::/64': ['fe80::1%eth0', 'FE80:0:0:0:0:0:0:1%25eth0'],
    '129.144.52.38': [
      '129.144.52.38',
      '129.144.52.38:80',
      '0:0:0:0:0:FFFF:129.144.52.38',
      '::FFFF:129.144.52.38',
      '::ffff:8190:3426',
      '[::ffff:129.144.52.38]:443',
    ],
    unknown: [
      '',
      'none',
      '1.2.3',
      '01.2.3.4',
      '0x7f.0.0.1',
      '2130706433',
      '1::2::3',
      '12345::',
      '1:2:3:4:5:6:7:8:9',
      ':1:2:3:4:5:6:7',
    ],
  };
  for (const [network, addresses] of Object.entries(same))
    for (const address of addresses) assert.equal(networkOf(address), network, address);
  assert.equal(networkOf(undefined), 'unknown');
});

test('an address is stripped of port and zone, IPv4 stays IPv4, and an invalid address is undefined', () => {
  const written: Record<string, string | undefined> = {
    '192.0.2.1': '192.0.2.1',
    '192.0.2.1:5678': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '[::ffff:192.0.2.1]:80': '192.0.2.1',
    '[2001:db8::1]:4711': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    unknown: undefined,
    _hidden: undefined,
    '': undefined,
  };
  for (const [text, address] of Object.entries(written)) assert.equal(plainAddress(text), address, text);
  assert.equal(plainAddress(undefined), undefined);
});
