import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { newSecret, signatureHeaders } from '../../src/webhooks/signing.js';
import { outputOf } from '../helpers/child-output.js';
import { assertLedgerSound } from '../helpers/world.js';
import { LiveService } from './live.js';

const README = 'packages/client/README.md';

/** The TypeScript of the page, in order. */
function program(): string {
  const blocks = readFileSync(README, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm);
  return Array.from(blocks, ([, block = '']) => block).join('\n');
}

const live = await LiveService.start();

describe(README, () => {
  after(() => live.stop());

  it("the program in the client's README runs against the service as described", async () => {
    const file = live.module('readme.mjs', program());
    const child = spawn(process.execPath, [file], {
      env: live.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, stdout: output, stderr } = await outputOf(child);
    assert.equal(code, 0, `${output}\n${stderr}`);
    for (const expected of [
      /^completed 150000n$/m,
      /^at least 100000$/m,
      /^true$/m,
      /^pays 300000, stored/m,
    ])
      assert.match(output, expected);
    assert.match(output, /NOV-1,\$bruno,150000,COPM,paid/);
    await assertLedgerSound(live.db.database);
  });

  it("the receiver in the client's README accepts signed deliveries and refuses all others", async () => {
    const secret = newSecret();
    const source = program();
    const file = live.module(
      'receiver.mjs',
      `process.env.WEBHOOK_SECRET = '${secret}';\n${source.slice(source.indexOf('import { verifyWebhook'))}`,
    );
    const { receive } = (await import(file)) as {
      receive: (request: Request) => Promise<Response>;
    };
    const body = JSON.stringify({ id: randomUUID(), type: 'webhook.test' });
    const timestampS = Math.floor(Date.now() / 1_000);
    const headers = signatureHeaders({
      id: 'x',
      body: Buffer.from(body),
      secret,
      previousSecret: null,
      timestampS,
    });
    const post = (text: string): Promise<Response> =>
      receive(new Request('http://localhost/hooks', { method: 'POST', body: text, headers }));
    assert.equal((await post(body)).status, 204);
    assert.equal((await post(`${body} `)).status, 401);
  });
});
