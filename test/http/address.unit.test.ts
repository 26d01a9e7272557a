import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { admitsAddress, normaliseRange, parseRanges } from '../../src/core/address-ranges.js';
import { ClientAddresses } from '../../src/http/client-addresses.js';
import { call, callerWith, rawHead, sendRaw, startWorld } from './support.js';
import { thingRoutes } from './routes.js';

/** As much of a request as the reading of addresses sees. */
function from(peer: string, forwarded?: string): IncomingMessage {
  return {
    socket: { remoteAddress: peer },
    headers: { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage;
}

describe('client addresses', () => {
  const PROXIES = ['10.0.0.0/8', 'fd00::/8', '192.168.1.1'];
  for (const [what, proxies, peer, forwarded, address] of [
    ['is the peer without trusted proxies', [], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['is IPv4 if it is written as IPv6', [], '::ffff:10.0.0.1', undefined, '10.0.0.1'],
    ['is the address that a trusted proxy reports', PROXIES, '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    [
      'is the address that a trusted proxy with an IPv4 address in IPv6 form reports',
      PROXIES,
      '::ffff:10.0.0.1',
      '1.2.3.4',
      '1.2.3.4',
    ],
    ['may be an IPv6 address', PROXIES, 'fd00::1', '2001:db8::1', '2001:db8::1'],
    [
      'is not the address that an untrusted peer reports',
      PROXIES,
      '11.0.0.1',
      '1.2.3.4',
      '11.0.0.1',
    ],
    [
      'is the address that a single trusted address reports',
      PROXIES,
      '192.168.1.1',
      '1.2.3.4',
      '1.2.3.4',
    ],
    [
      'is not the address that a neighbour of the trusted address reports',
      PROXIES,
      '192.168.1.2',
      '1.2.3.4',
      '192.168.1.2',
    ],
    [
      'is not the address that the client itself claims',
      PROXIES,
      '10.0.0.1',
      '9.9.9.9, 1.2.3.4, 10.0.0.2',
      '1.2.3.4',
    ],
    ['may be the address of a trusted proxy', PROXIES, '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ] as const)
    it(`the client's address ${what}`, () => {
      assert.equal(new ClientAddresses(proxies).of(from(peer, forwarded)), address);
    });

  it("an address of X-Forwarded-For that cannot be read leaves the client's address unknown, which is in no range", () => {
    const addresses = new ClientAddresses(['10.0.0.0/8']);
    const everywhere = parseRanges('10.0.0.0/8,0.0.0.0/0,::/0');
    for (const forwarded of [
      ...['', 'unknown', '1.2.3.4, evil', '1.2.3', '999.1.1.1', '1.2.3.4:8080', '_hidden', ','],
      ...['1.2.3.4,', '0x0a.1', '010.0.0.9'],
    ]) {
      const address = addresses.of(from('10.0.0.1', forwarded));
      assert.equal(address, '', forwarded);
      assert.equal(admitsAddress(everywhere, address), false, forwarded);
      assert.equal(admitsAddress([], address), true, 'a token that may be used from anywhere');
    }
    assert.equal(addresses.of(from('10.0.0.1')), '10.0.0.1', 'the proxy asks for itself');
    assert.equal(addresses.of(from('10.0.0.1', 'evil, 1.2.3.4')), '1.2.3.4', 'a claim is not read');
  });

  it('the service does not start with a trusted proxy that is neither an address nor a range', () => {
    for (const range of ['proxy', '10.0.0.0/33', ''])
      assert.throws(() => new ClientAddresses([range]), RangeError);
  });

  it("the token check gets the client's address", async () => {
    let seen = '';
    const world = await startWorld({
      routes: thingRoutes(),
      trustedProxies: ['127.0.0.1'],
      authenticate: (_token, address) => {
        seen = address;
        return Promise.resolve(callerWith());
      },
    });
    await call(`${world.url}/v1/transfers`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    assert.equal(seen, '203.0.113.9');
    // What the proxy adds is the last: a client that sends more headers than Node keeps must not have it dropped.
    const claimed = ['X-Forwarded-For: 10.0.0.9', ...Array.from({ length: 1_100 }, () => 'a:')];
    const added = ['X-Forwarded-For: 203.0.113.9', 'Connection: close'];
    await sendRaw(world.port, rawHead('GET /v1/transfers HTTP/1.1', ...claimed, ...added));
    await world.server.stop(0);
    assert.equal(seen, '203.0.113.9');
  });
});

describe('the address ranges of a token', () => {
  it('are stored in canonical form, and other text is refused', () => {
    for (const [given, stored] of [
      ['10.1.2.3/8', '10.0.0.0/8'],
      ['203.0.113.7', '203.0.113.7/32'],
      ['2001:db8::1/32', '2001:db8::/32'],
      ['::1', '::1/128'],
    ] as const)
      assert.equal(normaliseRange(given), stored);
    for (const given of [
      ...['', '10', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/8/8', '0x7f.1', '010.0.0.1'],
      ...['acme.example', 'fe80::1%eth0', '::ffff:10.0.0.0/104', '10.0.0.0/-1', '10.0.0.0/1e1'],
    ])
      assert.equal(normaliseRange(given), null, given);
  });

  it('admit only addresses within them', () => {
    const ranges = parseRanges('10.0.0.0/8,2001:db8::/32');
    for (const inside of ['10.0.0.0', '10.255.255.255', '::ffff:10.1.1.1', '2001:db8:1::1'])
      assert.ok(admitsAddress(ranges, inside), inside);
    const others = '11.0.0.0 9.255.255.255 ::ffff:11.1.1.1 2001:db9::1 ::a00:1 localhost';
    for (const outside of ['', ...others.split(' ')])
      assert.ok(!admitsAddress(ranges, outside), outside);
  });
});
