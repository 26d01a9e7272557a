import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { newSecret, signatureHeaders } from '../../src/webhooks/signing.js';
import { closeAll, listening, NEVER, senderWith } from '../webhooks/receivers.js';
import { run } from './ops.js';

const PROGRAM = fileURLToPath(new URL('../../development/ops.js', import.meta.url));
const ID = '0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10';
const RESOURCE = '0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44';
const EVENT = JSON.stringify({
  id: ID,
  type: 'transfer.completed',
  sequence: 17,
  data: { object: { id: RESOURCE, description: '🦄' } },
});

describe('npm run ops -- webhooks listen', () => {
  const secret = newSecret();
  let child: ChildProcess | undefined;
  let lines: string[];
  let url: string;

  /** Starts it as an operator would, with nothing in the environment, and waits until it listens. */
  async function listen(...args: readonly string[]): Promise<void> {
    lines = [];
    const started = spawn(
      process.execPath,
      [PROGRAM, 'webhooks', 'listen', '--port', '0', '--secret', secret, ...args],
      {
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    child = started;
    started.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => lines.push(...text.trimEnd().split('\n')));
    let output = '';
    for await (const text of started.stderr
      .setEncoding('utf8')
      .iterator({ destroyOnReturn: false })) {
      output += String(text);
      if (output.includes('\n')) break;
    }
    url = /http:\S+\//.exec(output)?.[0] ?? assert.fail(output);
  }

  afterEach(async () => {
    await closeAll();
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'close');
  });

  async function deliver(text: string, headers: Record<string, string>): Promise<number | string> {
    const result = await senderWith().send({ url, body: Buffer.from(text), headers }, NEVER);
    return result.outcome === 'answered' ? result.status : result.message;
  }

  const signed = (
    text: string,
    by = secret,
    timestampS = Math.floor(Date.now() / 1_000),
  ): Record<string, string> =>
    signatureHeaders({
      id: ID,
      body: Buffer.from(text),
      secret: by,
      previousSecret: null,
      timestampS,
    });

  async function shown(count: number): Promise<void> {
    while (lines.length < count) await once(child!.stdout!, 'data');
  }

  it('prints each delivery in a line, with the result of its verification', async () => {
    await listen();
    assert.equal(await deliver(EVENT, signed(EVENT)), 200);
    assert.equal(await deliver(EVENT, signed(EVENT)), 200);
    await shown(2);
    assert.match(
      lines[0]!,
      new RegExp(
        `^\\S+  transfer\\.completed  #17  id ${ID}  of ${RESOURCE}  \\d+ bytes  signatures good  answered 200$`,
      ),
    );
    assert.match(lines[1]!, /arrived 2 times/);
    child!.kill('SIGINT');
    assert.deepEqual(await once(child!, 'close'), [0, null]);
  });

  it('answers with the given status after the given delay', async () => {
    await listen('--answer', '500', '--delay-ms', '300');
    const startedAt = performance.now();
    assert.equal(await deliver(EVENT, signed(EVENT)), 500);
    assert.ok(performance.now() - startedAt >= 295);
    assert.match(lines[0] ?? (await shown(1), lines[0]!), /signatures good {2}answered 500$/);
  });

  it('reports a signature that fails, and answers 401', async () => {
    await listen();
    const good = signed(EVENT);
    assert.equal(await deliver(EVENT, signed(EVENT, newSecret())), 401);
    assert.equal(await deliver(EVENT, {}), 401);
    assert.equal(await deliver(EVENT, { ...good, 'Svc-Signature': 'f'.repeat(64) }), 401);
    assert.equal(
      await deliver(EVENT, signed(EVENT, secret, Math.floor(Date.now() / 1_000) - 1_000)),
      401,
    );
    await shown(4);
    assert.match(lines[0]!, /BAD: Svc-Signature does not fit .*; webhook-signature does not fit/);
    assert.match(lines[1]!, /BAD: Svc-Signature is missing; webhook-signature is missing/);
    assert.match(
      lines[2]!,
      /BAD: Svc-Signature does not fit the body and this secret {2}answered 401$/,
    );
    assert.match(
      lines[3]!,
      /BAD: webhook-signature was made 100\d s away from this clock {2}answered 401$/,
    );
  });

  it('--json prints a line of JSON for each event', async () => {
    await listen('--json');
    await deliver(EVENT, signed(EVENT));
    await shown(1);
    const { received_at: at, ...rest } = JSON.parse(lines[0]!) as Record<string, unknown>;
    assert.match(String(at), /^\d{4}-.*Z$/);
    assert.deepEqual(rest, {
      type: 'transfer.completed',
      id: ID,
      sequence: 17,
      resource: RESOURCE,
      bytes: Buffer.byteLength(EVENT),
      arrivals: 1,
      signatures: { 'Svc-Signature': 'good', 'webhook-signature': 'good' },
      answered: 200,
    });
  });

  it('shows a body that is not an event without obeying it', async () => {
    await listen();
    const bodies = [
      '',
      'null',
      '[]',
      '{"type":"\\u001b[2J","id":7,"sequence":"x","data":{"object":[]}}',
      '\u0000',
    ];
    for (const body of bodies) assert.equal(await deliver(body, signed(body)), 200);
    await shown(bodies.length);
    for (const line of lines)
      assert.match(line, /^[\d:.]+ {2}no event {2}\d+ bytes {2}signatures good {2}answered 200$/);
  });

  it('requires a secret, a port, and numbers within their ranges', async () => {
    const port = ['--port', '0'];
    for (const [args, message] of [
      [['--port', '0'], /--secret is required/],
      [['--secret', secret], /--port is required/],
      [[...port, '--secret', 'hunter2hunter2'], /--secret: must be a signing secret/],
      [[...port, '--secret', secret, '--answer', '99'], /--answer: must be at least 200/],
      [[...port, '--secret', secret, '--delay-ms', '-1'], /--delay-ms/],
    ] as const) {
      const { code, stderr } = await run('development/ops.js', ['webhooks', 'listen', ...args], {});
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /hunter2|\n\s+at /);
    }
  });

  it('reports a port that is in use', async () => {
    const { port } = await listening(createServer());
    const { code, stderr } = await run(
      'development/ops.js',
      ['webhooks', 'listen', '--port', `${port}`, '--secret', secret],
      {},
    );
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`cannot listen on port ${port}: EADDRINUSE`));
  });
});
