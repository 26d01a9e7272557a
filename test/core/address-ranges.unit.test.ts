import assert from 'node:assert/strict';
import { admitsAddress, normaliseRange, parseRanges } from '../../src/core/address-ranges.js';

describe('the address ranges of a token', () => {
  for (const [given, stored] of [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:db8::1/32', '2001:db8::/32'],
    ['::1', '::1/128'],
  ] as const)
    it(`the address range ${given} of a token is stored as ${stored}`, () =>
      assert.equal(normaliseRange(given), stored));

  for (const given of [
    '',
    '10',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '0x7f.1',
    '010.0.0.1',
    'acme.example',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/104',
    '10.0.0.0/-1',
    '10.0.0.0/1e1',
  ])
    it(`${JSON.stringify(given)} is not an address range`, () =>
      assert.equal(normaliseRange(given), null));

  it('the address ranges of a token admit every address when there are none', () => {
    assert.ok(admitsAddress(parseRanges(''), '198.51.100.1'));
    assert.ok(admitsAddress(parseRanges(''), 'not an address'));
  });

  it('the address ranges of a token admit only what lies within', () => {
    const ranges = parseRanges('10.0.0.0/8,2001:db8::/32');
    for (const inside of ['10.0.0.0', '10.255.255.255', '::ffff:10.1.1.1', '2001:db8:1::1'])
      assert.ok(admitsAddress(ranges, inside), inside);
    for (const outside of [
      '11.0.0.0',
      '9.255.255.255',
      '::ffff:11.1.1.1',
      '2001:db9::1',
      '::a00:1',
      '',
      'localhost',
    ])
      assert.ok(!admitsAddress(ranges, outside), outside);
  });
});
