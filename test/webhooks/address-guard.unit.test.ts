import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { isPublicAddress, parseAllowedHost } from '../../src/webhooks/address-guard.js';
import {
  allow,
  closeAll,
  guardWith,
  listening,
  type Listener,
  send,
  senderWith,
} from './receivers.js';

/** Hosts that a URL must not have, as they can be written in it. */
const FORBIDDEN_HOSTS = [
  // loopback, in every way of writing
  '127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.1',
  '0x7f.0x0.0x0.0x1 0177.0.0.1 017700000001 0177.0x0.1 00000177.1 %31%32%37.0.0.1',
  '127%2e0%2e0%2e1 １２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ①②⑦.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 ⑫7.0.0.1 0',
  '0.0.0.0 0x0 00.0 [::1] [::] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  // names of this machine and network
  'localhost LOCALHOST localhost. foo.localhost localhost.localdomain ⓛocalhost localhoſt',
  'loc%61lhost ip6-localhost printer.local metadata.google.internal metadata router.home.arpa',
  'db.lan wiki.intranet',
  // IPv4 in IPv6
  '[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:8.8.8.8] [::127.0.0.1]',
  '[::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::8.8.8.8]',
  '[64:ff9b:1::10.0.0.1] [2002:7f00:1::] [2002:a9fe:a9fe::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2] [2600::5efe:127.0.0.1] [2600::200:5efe:10.0.0.1]',
  // private
  '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 0xa9fea9fe',
  '0xc0a80001 [fc00::1] [fd00:ec2::254] [fdff:ffff::1] [fec0::1]',
  // link-local, metadata
  '169.254.169.254 169.254.0.1 2852039166 0251.0376.0251.0376 169.254.170.2 100.100.100.200',
  '192.0.0.192 168.63.129.16 [fe80::1] [febf::1] [::ffff:169.254.169.254]',
  // the rest of the special ranges
  '100.64.0.1 100.127.255.255 192.0.0.8 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1',
  '192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255',
  '240.0.0.1 255.255.255.255 0.1.2.3 [100::1] [2001:2::1] [2001:10::1] [2001:20::1]',
  '[2001:db8::1] [3fff::1] [5f00::1] [ff02::1] [3ffe::1] [2620:4f:8000::1] [4000::1] [e000::1]',
].flatMap((line) => line.split(' '));

/** What is no URL for deliveries, and why. */
const REFUSED_URLS = {
  malformed: [
    '',
    'hooks.acme.example',
    '//hooks.acme.example/',
    'https:hooks.acme.example',
    'https:/hooks.acme.example',
    'https:///hooks.acme.example',
    'https:\\\\hooks.acme.example\\x',
    'https://hooks.acme.example\\@127.0.0.1/',
    ' https://hooks.acme.example/',
    'https://hooks.acme.example/\n',
    'https://hooks.ac\tme.example/',
    'https://hooks.acme.example/\u0000',
    'https://hooks.acme.example.',
    'https://hooks..example/',
    'https://-hooks.example/',
    'https://hooks.acme.example:99999/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1/',
    'https://1.2.3.4.5/',
    'https://256.1.1.1/',
    'https://4294967296/',
    'https://hooks%00.acme.example/',
    'javascript:alert(1)',
    'ftp://hooks.acme.example/',
    'file:///etc/passwd',
    'gopher://hooks.acme.example/',
  ],
  https_only: [
    'http://hooks.acme.example/',
    'HTTP://hooks.acme.example/',
    'http://127.0.0.1/',
    'http://8.8.8.8/',
  ],
  credentials: [
    'https://me:secret@hooks.acme.example/',
    'https://me@hooks.acme.example/',
    'https://@hooks.acme.example/',
  ],
  fragment: ['https://hooks.acme.example/#here', 'https://hooks.acme.example/#'],
  too_long: [
    `https://hooks.acme.example/${'x'.repeat(2_048)}`,
    `https://hooks.acme.example/${'é'.repeat(1_000)}`,
  ],
} as const;

describe('the address guard', () => {
  const guard = guardWith({ resolve: async () => ['93.184.216.34'] });

  for (const host of FORBIDDEN_HOSTS)
    it(`the address guard refuses https://${host}/`, () => {
      const parsed = guard.parseUrl(`https://${host}/hook`);
      assert.ok(!parsed.ok);
      assert.ok(['forbidden_address', 'malformed'].includes(parsed.reason));
    });

  for (const [reason, urls] of Object.entries(REFUSED_URLS))
    for (const url of urls)
      it(`the address guard calls ${JSON.stringify(url.slice(0, 60))} ${reason}`, async () => {
        assert.deepEqual(guard.parseUrl(url), { ok: false, reason });
        assert.deepEqual(await guard.checkUrl(url), { ok: false, reason });
      });

  for (const [given, stored] of [
    ['https://hooks.acme.example', 'https://hooks.acme.example/'],
    ['HTTPS://Hooks.Acme.example:443/a?b=c', 'https://hooks.acme.example/a?b=c'],
    ['https://hooks.acme.example:8443/a@b', 'https://hooks.acme.example:8443/a@b'],
    ['https://pagos.peña.example/', 'https://pagos.xn--pea-8ma.example/'],
    ['https://my_hooks.acme.example/', 'https://my_hooks.acme.example/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://134744072/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ] as const)
    it(`the address guard takes ${given} as ${stored}`, async () =>
      assert.deepEqual(await guard.checkUrl(given), { ok: true, url: stored }));

  for (const address of [
    '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0',
    '169.253.255.255 192.0.1.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1',
    '2606:4700::1111 2a00::1',
  ].flatMap((line) => line.split(' ')))
    it(`the address guard calls ${address}, next to a special range, public`, () =>
      assert.ok(isPublicAddress(address)));

  for (const text of [
    '',
    '1',
    '1.1.1',
    '01.1.1.1',
    '0x1.1.1.1',
    '1.1.1.1.',
    '2606:4700::1111%eth0',
    '[2606:4700::1111]',
    'one',
  ])
    it(`the address guard calls ${JSON.stringify(text)}, which is not a canonical address, not public`, () =>
      assert.ok(!isPublicAddress(text)));
});

describe('a host name', () => {
  const resolving = (...answer: readonly string[]): ReturnType<typeof guardWith> =>
    guardWith({ resolve: async () => answer });
  const URL_OF_NAME = 'https://hooks.acme.example/';

  it('a host name gets deliveries if all of its addresses are public', async () => {
    const guard = resolving('93.184.216.34', '2606:2800::1');
    assert.deepEqual(await guard.resolve(new URL(URL_OF_NAME)), {
      ok: true,
      addresses: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800::1', family: 6 },
      ],
    });
  });

  for (const forbidden of [
    '127.0.0.1 10.1.1.1 169.254.169.254 ::1 ::ffff:10.0.0.1 fd00::1 fe80::1%eth0 64:ff9b::a00:1',
    'garbage',
  ].flatMap((line) => line.split(' ')))
    it(`a host name is refused when one of its addresses is ${forbidden}`, async () => {
      for (const answer of [
        [forbidden],
        ['93.184.216.34', forbidden],
        [forbidden, '93.184.216.34'],
      ])
        assert.deepEqual(await resolving(...answer).checkUrl(URL_OF_NAME), {
          ok: false,
          reason: 'forbidden_address',
        });
    });

  it('a host name is unresolvable when it has no address, or its name servers fail', async () => {
    const failing = guardWith({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
    for (const guard of [resolving(), failing])
      assert.deepEqual(await guard.checkUrl(URL_OF_NAME), { ok: false, reason: 'unresolvable' });
  });

  it('a host name is not waited for longer than five seconds', async () => {
    const guard = guardWith({ resolve: () => new Promise(() => undefined) });
    assert.deepEqual(await guard.checkUrl(URL_OF_NAME), { ok: false, reason: 'unresolvable' });
  });

  it('a host name is asked of the real name servers, where .invalid has no address', async () =>
    assert.deepEqual(await guardWith().checkUrl('https://hooks.invalid/'), {
      ok: false,
      reason: 'unresolvable',
    }));

  it('a host name is left to a proxy, except for hosts that are forbidden as written', async () => {
    const guard = guardWith({
      namesAreLeftToProxy: true,
      resolve: () => Promise.reject(new Error('asked')),
    });
    assert.deepEqual(await guard.checkUrl(URL_OF_NAME), { ok: true, url: URL_OF_NAME });
    for (const host of ['127.1', '[::ffff:10.0.0.1]', 'localhost'])
      assert.deepEqual(await guard.checkUrl(`https://${host}/`), {
        ok: false,
        reason: 'forbidden_address',
      });
  });
});

describe("the operator's list", () => {
  const guard = guardWith({
    allowedHosts: allow('http://127.0.0.1:*', 'https://receiver.internal', 'http://[::1]:8080'),
  });

  for (const url of [
    'http://127.0.0.1/ http://127.0.0.1:9999/x http://127.1:9999/ http://2130706433:1/',
    'https://receiver.internal/ https://RECEIVER.internal:443/ http://[::1]:8080/',
    'http://[0:0::1]:8080/',
  ].flatMap((line) => line.split(' ')))
    it(`the operator's list lets ${url} pass`, () => assert.ok(guard.parseUrl(url).ok));

  for (const url of [
    'https://127.0.0.1/ http://127.0.0.2/ http://localhost/ http://receiver.internal/',
    'https://receiver.internal:8443/ https://receiver.internal.evil.example:443@127.0.0.1/',
    'https://xreceiver.internal/ http://[::1]/ http://[::ffff:127.0.0.1]/',
    'http://127.0.0.1@evil.example/ http://127.0.0.1.evil.example/ http://user@127.0.0.1/',
    'http://127.0.0.1/#x',
  ].flatMap((line) => line.split(' ')))
    it(`the operator's list is compared with the parsed URL: ${url} is not on it`, () =>
      assert.ok(!guard.parseUrl(url).ok));

  it("the operator's list resolves its names like the machine does, whatever their addresses", async () => {
    const local = guardWith({
      allowedHosts: allow('http://localhost:*'),
      resolve: () => Promise.reject(new Error('asked')),
    });
    const resolved = await local.resolve(new URL('http://localhost:1234/'));
    assert.ok(
      resolved.ok &&
        resolved.addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'),
    );
  });

  for (const [text, entry] of [
    ['http://127.0.0.1:*', { protocol: 'http:', hostname: '127.0.0.1', port: null }],
    ['http://localhost', { protocol: 'http:', hostname: 'localhost', port: '' }],
    [
      'https://hooks.acme.example:443',
      { protocol: 'https:', hostname: 'hooks.acme.example', port: '' },
    ],
    [
      'https://hooks.acme.example:8443',
      { protocol: 'https:', hostname: 'hooks.acme.example', port: '8443' },
    ],
    ['http://[::1]:*', { protocol: 'http:', hostname: '[::1]', port: null }],
    ['http://127.1', { protocol: 'http:', hostname: '127.0.0.1', port: '' }],
  ] as const)
    it(`the operator's list reads ${text}`, () => assert.deepEqual(parseAllowedHost(text), entry));

  for (const text of [
    '',
    '*',
    'localhost',
    'localhost:80',
    'ftp://localhost',
    'http://',
    'http://localhost/',
    'http://localhost:',
    'http://localhost:99999',
    'http://*:80',
    'http://*.acme.example',
    'http://u@localhost',
    'http://local host',
    'http://localhost?x',
    'http://localhost:80:80',
    'http://[::1',
  ])
    it(`the operator's list does not take ${JSON.stringify(text)}`, () =>
      assert.equal(parseAllowedHost(text), null));
});

describe('not one packet', () => {
  let canaries: Listener[];

  before(async () => {
    canaries = [];
    for (const host of ['127.0.0.1', '::1', '0.0.0.0'])
      // A machine may have no IPv6.
      await listening(createServer(), host).then(
        (canary) => canaries.push(canary),
        () => undefined,
      );
    assert.ok(canaries.length >= 2);
  });
  after(closeAll);

  const touched = (): number => canaries.reduce((sum, { connections }) => sum + connections(), 0);

  it('not one packet reaches a forbidden address that a URL names, at an attempt', async () => {
    const sender = senderWith({
      guard: guardWith({ resolve: async () => ['127.0.0.1'] }),
      timeoutMs: 2_000,
    });
    for (const { port } of canaries)
      for (const host of FORBIDDEN_HOSTS)
        for (const scheme of ['https', 'http']) {
          const result = await send(sender, `${scheme}://${host}:${port}/`);
          assert.ok(
            result.outcome === 'failed' &&
              ['forbidden_address', 'invalid_url'].includes(result.reason),
            host,
          );
        }
    assert.equal(touched(), 0);
  });

  it('not one packet reaches a forbidden address behind a name', async () => {
    for (const address of [
      '127.0.0.1 ::1 0.0.0.0 :: ::ffff:127.0.0.1 ::ffff:7f00:1 127.1 ::1%lo',
    ].flatMap((line) => line.split(' ')))
      for (const answer of [[address], ['93.184.216.34', address]]) {
        const sender = senderWith({
          guard: guardWith({ resolve: async () => answer }),
          timeoutMs: 2_000,
        });
        for (const { port } of canaries) {
          const result = await send(sender, `https://hooks.acme.example:${port}/`);
          assert.ok(result.outcome === 'failed' && result.reason === 'forbidden_address', address);
        }
      }
    assert.equal(touched(), 0);
  });

  it('not one packet reaches a forbidden address that a name has changed to since its registration', async () => {
    const { port } = canaries[0]!;
    const url = `https://hooks.acme.example:${port}/`;
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['93.184.216.34', '127.0.0.1']];
    const guard = guardWith({ resolve: async () => answers.shift() ?? ['127.0.0.1'] });
    assert.deepEqual(await guard.checkUrl(url), { ok: true, url });
    const sender = senderWith({ guard, timeoutMs: 2_000 });
    for (let attempt = 0; attempt < 3; attempt++) {
      const result = await send(sender, url);
      assert.ok(result.outcome === 'failed' && result.reason === 'forbidden_address');
    }
    assert.equal(touched(), 0);
  });

  it('not one packet goes unheard: the canaries do hear what is sent to them', async () => {
    const before = touched();
    const { port } = canaries[0]!;
    const sender = senderWith({ timeoutMs: 200 });
    await send(sender, `http://127.0.0.1:${port}/`);
    assert.equal(touched(), before + 1);
  });
});
