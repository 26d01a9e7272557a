import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** URLs that are refused, by the reason. */
const REFUSED_URLS = {
  malformed: [
    ...[
      '',
      '//hooks.acme.example/',
      ' https://hooks.acme.example/',
      'https://hooks.acme.example/\n',
    ],
    ...['https://hooks.ac\tme.example/', 'https://hooks.acme.example/\u0000'],
    ...(
      'hooks.acme.example https:hooks.acme.example https:/hooks.acme.example https:///hooks.acme.example ' +
      'https:\\\\hooks.acme.example\\x https://hooks.acme.example\\@127.0.0.1/ https://hooks.acme.example. ' +
      'https://hooks..example/ https://-hooks.example/ https://hooks.acme.example:99999/ ' +
      'https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/ https://[::1/ https://1.2.3.4.5/ ' +
      'https://256.1.1.1/ https://4294967296/ https://hooks%00.acme.example/ javascript:alert(1) ' +
      'ftp://hooks.acme.example/ file:///etc/passwd'
    ).split(' '),
  ],
  https_only: ['http://hooks.acme.example/', 'HTTP://hooks.acme.example/', 'http://127.0.0.1/'],
  credentials: ['https://me:secret@hooks.acme.example/', 'https://@hooks.acme.example/'],
  fragment: ['https://hooks.acme.example/#here', 'https://hooks.acme.example/#'],
  too_long: [
    `https://hooks.acme.example/${'x'.repeat(2_048)}`,
    `https://hooks.acme.example/${'é'.repeat(1_000)}`,
  ],
} as const;

describe('the address guard', () => {
  const guard = guardWith({ resolve: async () => ['93.184.216.34'] });

  it('refuses every host that is not public, in every way of writing it', () => {
    for (const host of FORBIDDEN_HOSTS) {
      const parsed = guard.parseUrl(`https://${host}/hook`);
      assert.ok(!parsed.ok, host);
      assert.ok(['forbidden_address', 'malformed'].includes(parsed.reason), host);
    }
  });

  for (const [reason, urls] of Object.entries(REFUSED_URLS))
    it(`gives ${reason} as the reason for refusing a URL`, async () => {
      for (const url of urls) {
        assert.deepEqual(guard.parseUrl(url), { ok: false, reason }, url);
        assert.deepEqual(await guard.checkUrl(url), { ok: false, reason }, url);
      }
    });

  it('accepts public hosts, and stores their URLs as browsers write them', async () => {
    for (const [given, stored] of [
      ['https://hooks.acme.example', 'https://hooks.acme.example/'],
      ['HTTPS://Hooks.Acme.example:443/a?b=c', 'https://hooks.acme.example/a?b=c'],
      ['https://hooks.acme.example:8443/a@b', 'https://hooks.acme.example:8443/a@b'],
      ['https://pagos.peña.example/', 'https://pagos.xn--pea-8ma.example/'],
      ['https://my_hooks.acme.example/', 'https://my_hooks.acme.example/'],
      ['https://134744072/', 'https://8.8.8.8/'],
      ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ] as const)
      assert.deepEqual(await guard.checkUrl(given), { ok: true, url: stored });
  });

  it('accepts addresses next to special ranges, and refuses text that is not a canonical address', () => {
    const isPublic =
      '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 ' +
      '169.253.255.255 192.0.1.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1 ' +
      '2606:4700::1111 2a00::1';
    for (const address of isPublic.split(' ')) assert.ok(isPublicAddress(address), address);
    const isNot = '1 1.1.1 01.1.1.1 0x1.1.1.1 1.1.1.1. 2606:4700::1111%eth0 [2606:4700::1111] one';
    for (const text of ['', ...isNot.split(' ')]) assert.ok(!isPublicAddress(text), text);
  });
});

describe('a host name', () => {
  const resolving = (...answer: readonly string[]): ReturnType<typeof guardWith> =>
    guardWith({ resolve: async () => answer });
  const URL_OF_NAME = 'https://hooks.acme.example/';

  it('gets deliveries if all of its addresses are public, and is refused if one is not', async () => {
    const guard = resolving('93.184.216.34', '2606:2800::1');
    assert.deepEqual(await guard.resolve(new URL(URL_OF_NAME)), {
      ok: true,
      addresses: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800::1', family: 6 },
      ],
    });
    const forbidden =
      '127.0.0.1 10.1.1.1 169.254.169.254 ::1 ::ffff:10.0.0.1 fd00::1 fe80::1%eth0 64:ff9b::a00:1 garbage';
    for (const one of forbidden.split(' '))
      for (const answer of [[one], ['93.184.216.34', one], [one, '93.184.216.34']])
        assert.deepEqual(
          await resolving(...answer).checkUrl(URL_OF_NAME),
          { ok: false, reason: 'forbidden_address' },
          one,
        );
  });

  it('is unresolvable when it has no address, or its name servers fail or keep silent', async () => {
    const failing = guardWith({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
    const silent = guardWith({ resolve: () => new Promise(() => undefined) });
    for (const guard of [resolving(), failing, silent])
      assert.deepEqual(await guard.checkUrl(URL_OF_NAME), { ok: false, reason: 'unresolvable' });
  });

  it('is left to a proxy, except for hosts that are forbidden as written', async () => {
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

describe("the operator's list of hosts", () => {
  it('is compared with the parsed URL', () => {
    const guard = guardWith({
      allowedHosts: allow('http://127.0.0.1:*', 'https://receiver.internal', 'http://[::1]:8080'),
    });
    const listed =
      'http://127.0.0.1/ http://127.0.0.1:9999/x http://127.1:9999/ http://2130706433:1/ ' +
      'https://receiver.internal/ https://RECEIVER.internal:443/ http://[::1]:8080/ http://[0:0::1]:8080/';
    for (const url of listed.split(' ')) assert.ok(guard.parseUrl(url).ok, url);
    const others =
      'https://127.0.0.1/ http://127.0.0.2/ http://localhost/ http://receiver.internal/ ' +
      'https://receiver.internal:8443/ https://receiver.internal.evil.example:443@127.0.0.1/ ' +
      'https://xreceiver.internal/ http://[::1]/ http://[::ffff:127.0.0.1]/ ' +
      'http://127.0.0.1@evil.example/ http://127.0.0.1.evil.example/ http://user@127.0.0.1/ http://127.0.0.1/#x';
    for (const url of others.split(' ')) assert.ok(!guard.parseUrl(url).ok, url);
  });

  it('allowed hosts are resolved as the machine resolves names, to any address', async () => {
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

  it('accepts only schemes, hosts and ports', () => {
    for (const [text, protocol, hostname, port] of [
      ['http://127.0.0.1:*', 'http:', '127.0.0.1', null],
      ['http://localhost', 'http:', 'localhost', ''],
      ['https://hooks.acme.example:443', 'https:', 'hooks.acme.example', ''],
      ['https://hooks.acme.example:8443', 'https:', 'hooks.acme.example', '8443'],
      ['http://[::1]:*', 'http:', '[::1]', null],
      ['http://127.1', 'http:', '127.0.0.1', ''],
    ] as const)
      assert.deepEqual(parseAllowedHost(text), { protocol, hostname, port });
    const wrong =
      '* localhost localhost:80 ftp://localhost http:// http://localhost/ http://localhost: ' +
      'http://localhost:99999 http://*:80 http://*.acme.example http://u@localhost ' +
      'http://localhost?x http://localhost:80:80 http://[::1';
    for (const text of ['', 'http://local host', ...wrong.split(' ')])
      assert.equal(parseAllowedHost(text), null, text);
  });
});

describe('a forbidden address', () => {
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
    // What is sent to a canary is counted.
    const sent = send(senderWith({ timeoutMs: 500 }), `http://127.0.0.1:${canaries[0]!.port}/`);
    while (touched() === 0) await sleep(5);
    await sent;
  });
  after(closeAll);

  const touched = (): number => canaries.reduce((sum, { connections }) => sum + connections(), 0);

  it('in a URL gets no packet at an attempt', async () => {
    const sender = senderWith({
      guard: guardWith({ resolve: async () => ['127.0.0.1'] }),
      timeoutMs: 2_000,
    });
    for (const { port } of canaries)
      for (const host of FORBIDDEN_HOSTS)
        for (const scheme of ['https', 'http']) {
          const result = await send(sender, `${scheme}://${host}:${port}/`);
          assert.ok(result.outcome === 'failed', host);
          assert.ok(['forbidden_address', 'invalid_url'].includes(result.reason), host);
        }
    assert.equal(touched(), 1);
  });

  it('behind a name gets no packet, even if the name had other addresses when it was registered', async () => {
    const before = [['93.184.216.34']];
    const forbidden = '127.0.0.1 ::1 0.0.0.0 :: ::ffff:127.0.0.1 ::ffff:7f00:1 127.1 ::1%lo';
    for (const address of forbidden.split(' '))
      for (const answer of [[address], ['93.184.216.34', address]]) {
        const guard = guardWith({ resolve: async () => before.shift() ?? answer });
        const sender = senderWith({ guard, timeoutMs: 2_000 });
        for (const { port } of canaries) {
          const url = `https://hooks.acme.example:${port}/`;
          if (before.length > 0) assert.deepEqual(await guard.checkUrl(url), { ok: true, url });
          const result = await send(sender, url);
          assert.ok(result.outcome === 'failed' && result.reason === 'forbidden_address', address);
        }
      }
    assert.equal(touched(), 1);
  });
});
