import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ts from 'typescript';
import { newSecret, signatureHeaders } from '../../src/webhooks/signing.js';
import { freePorts } from '../helpers/service-process.js';
import { closeAll, NEVER, senderWith } from './receivers.js';

const READY_MS = 60_000;

interface Language {
  readonly fence: string;
  readonly file: string;
  readonly tool: string;
  /** The program that runs the receiver. */
  readonly command: (file: string, port: number) => readonly [string, ...string[]];
  /** Made of the page's text before that. */
  readonly prepare?: (source: string, folder: string) => void;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  TypeScript: {
    fence: 'ts',
    file: 'receiver.mts',
    tool: process.execPath,
    prepare: (source, folder) => {
      const compilerOptions = {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      };
      writeFileSync(
        join(folder, 'receiver.mjs'),
        ts.transpileModule(source, { compilerOptions }).outputText,
      );
    },
    command: (file) => [process.execPath, file.replace(/mts$/, 'mjs')],
  },
  Python: {
    fence: 'python',
    file: 'receiver.py',
    tool: 'python3',
    command: (file) => ['python3', file],
  },
  Go: {
    fence: 'go',
    file: 'receiver.go',
    tool: 'go',
    prepare: (_, folder) =>
      void execFileSync('go', ['build', '-o', 'receiver', 'receiver.go'], {
        cwd: folder,
        env: { ...process.env, GOPROXY: 'off' },
      }),
    command: (file) => [file.replace(/\.go$/, '')],
  },
  PHP: {
    fence: 'php',
    file: 'receiver.php',
    tool: 'php',
    command: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
  },
  Java: {
    fence: 'java',
    file: 'Receiver.java',
    tool: 'java',
    command: (file) => ['java', file],
  },
};

const BODIES: Readonly<Record<string, string>> = {
  'an event':
    '{"id":"0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10","type":"transfer.completed","sequence":1,"data":{"object":{}}}',
  emoji: '{"id":"1","type":"t","d":"🦄👩‍👩‍👧🇨🇴"}',
  'right-to-left and combining text': '{"id":"1","type":"t","d":"שלום \u202eمرحبا e\u0301 ﷽"}',
  escapes: String.raw`{"id":"1","type":"t","d":"\"\\\/\b\f\n\r\t\u00e9\ud83e\udd84"}`,
  'an escaped NUL': String.raw`{"id":"1","type":"t","d":"a\u0000b"}`,
  'spaces and lines that a parser would drop': '{ "id" : "1",\r\n\t"type":"t" , "n": 1.0 }\n',
  'a very long text': JSON.stringify({ id: '1', type: 't', d: 'ñ🦄'.repeat(150_000) }),
};

const page = readFileSync('docs/webhooks.md', 'utf8');

function sourceOf({ fence }: Language): string {
  const [, source] = page.split(`\`\`\`${fence}\n`);
  assert.ok(source !== undefined, `docs/webhooks.md has no block of ${fence}`);
  return source.slice(0, source.indexOf('```'));
}

function isHere(tool: string): boolean {
  const folders = tool.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      execFileSync(join(folder, tool), [tool === 'go' ? 'version' : '--version'], {
        stdio: 'ignore',
      });
      return true;
    } catch {
      return false;
    }
  });
}

class DocumentedReceiver {
  readonly secret = newSecret();
  private readonly folder = mkdtempSync(join(tmpdir(), 'receiver-'));
  private child: ChildProcess | undefined;
  private output = '';
  url = '';

  async start(language: Language): Promise<void> {
    const file = join(this.folder, language.file);
    const source = sourceOf(language);
    writeFileSync(file, source);
    language.prepare?.(source, this.folder);
    const [port = 0] = await freePorts(1);
    this.url = `http://127.0.0.1:${port}/`;
    const [program, ...args] = language.command(file, port);
    const env = { ...process.env, WEBHOOK_SECRET: this.secret, PORT: port.toString() };
    const child = spawn(program, args, {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (this.output += data.toString()));
    const until = performance.now() + READY_MS;
    while (!(await answers(port))) {
      assert.ok(child.exitCode === null && performance.now() < until, this.output);
      await sleep(50);
    }
  }

  /** Returns what it has printed once that contains `last`. */
  async printed(last: string): Promise<string> {
    const until = performance.now() + READY_MS;
    while (!this.output.includes(last)) {
      assert.ok(performance.now() < until, this.output);
      await sleep(50);
    }
    return this.output;
  }

  stored(id: string): string {
    return readFileSync(join(this.folder, 'events', `${id}.json`), 'utf8');
  }

  async stop(): Promise<void> {
    if (this.child?.exitCode === null) {
      this.child.kill('SIGKILL');
      await once(this.child, 'close');
    }
    rmSync(this.folder, { recursive: true });
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function statusOf(
  receiver: DocumentedReceiver,
  text: string,
  headers: Record<string, string>,
): Promise<number | string> {
  return senderWith({ timeoutMs: 10_000 })
    .send({ url: receiver.url, body: Buffer.from(text), headers }, NEVER)
    .then((result) =>
      result.outcome === 'answered' ? result.status : `${result.reason}: ${result.message}`,
    );
}

function signed(
  text: string,
  secret: string,
  previousSecret: string | null = null,
  { ageS = 0, id = randomUUID() }: { ageS?: number; id?: string } = {},
): Record<string, string> {
  return signatureHeaders({
    id,
    body: Buffer.from(text),
    secret,
    previousSecret,
    timestampS: Math.floor(Date.now() / 1_000) - ageS,
  });
}

for (const [name, language] of Object.entries(LANGUAGES)) {
  const here = isHere(language.tool);
  const title = `the receiver of docs/webhooks.md in ${name}`;
  (here ? describe : describe.skip)(
    here ? title : `${title} (there is no ${language.tool} on this machine)`,
    function () {
      this.timeout(2 * READY_MS);
      const receiver = new DocumentedReceiver();

      before(() => receiver.start(language));
      after(async () => {
        await receiver.stop();
        await closeAll();
      });

      for (const [what, text] of Object.entries(BODIES))
        it(`a documented receiver of webhooks accepts ${what}`, async () =>
          assert.equal(await statusOf(receiver, text, signed(text, receiver.secret)), 204));

      it('a documented receiver of webhooks refuses a body of more than 1 MiB', async () => {
        const text = JSON.stringify({ id: '1', type: 't', d: 'x'.repeat(1_048_576) });
        const status = await statusOf(receiver, text, signed(text, receiver.secret));
        assert.ok(typeof status === 'string' || status >= 400, String(status));
      });

      it('a documented receiver of webhooks accepts with the old secret what is signed with both', async () => {
        const text = BODIES.emoji!;
        assert.equal(
          await statusOf(receiver, text, signed(text, newSecret(), receiver.secret)),
          204,
        );
        assert.equal(
          await statusOf(receiver, text, signed(text, receiver.secret, newSecret())),
          204,
        );
      });

      it('a documented receiver of webhooks refuses deliveries that were not signed with its secret', async () => {
        const text = BODIES['an event']!;
        const good = signed(text, receiver.secret);
        const changed = (change: (signature: string) => string): Record<string, string> => ({
          ...good,
          'Svc-Signature': change(good['Svc-Signature']!),
          'webhook-signature': change(good['webhook-signature']!),
        });
        const refused: Record<string, readonly [string, Record<string, string>]> = {
          'another secret': [text, signed(text, newSecret())],
          'a changed body': [text.replace('completed', 'rejected'), good],
          'a body with a space more': [`${text} `, good],
          'no signature': [text, {}],
          'an empty signature': [text, changed(() => '')],
          'a signature in capitals': [text, changed((one) => one.toUpperCase())],
          'half a signature': [text, changed((one) => one.slice(0, 32))],
          'a signature that is no text of ASCII': [text, changed(() => 'é'.repeat(64))],
        };
        for (const [what, [body, headers]] of Object.entries(refused))
          assert.equal(await statusOf(receiver, body, headers), 401, what);
        assert.equal(await statusOf(receiver, text, good), 204, 'and goes on');
      });

      it('a documented receiver stores an event once, and accepts it again', async () => {
        const [id, last] = [randomUUID(), randomUUID()];
        const deliver = (one: string) => {
          const text = JSON.stringify({ id: one, type: 'transfer.completed' });
          const headers = signed(text, receiver.secret, null, { id: one });
          return statusOf(receiver, text, headers);
        };
        for (const one of [id, id, last]) assert.equal(await deliver(one), 204);
        assert.equal((await receiver.printed(last)).split(id).length - 1, 1);
        assert.match(receiver.stored(id), /"transfer\.completed"/);
      });

      it('a documented receiver of webhooks refuses a delivery more than five minutes old or early, and a changed time', async () => {
        const text = BODIES['an event']!;
        const aged = (ageS: number): Record<string, string> =>
          signed(text, receiver.secret, null, { ageS });
        for (const ageS of [330, -330, 1e6])
          assert.equal(await statusOf(receiver, text, aged(ageS)), 401, `${ageS} s`);
        for (const ageS of [270, -270])
          assert.equal(await statusOf(receiver, text, aged(ageS)), 204, `${ageS} s`);
        for (const timestamp of ['', 'x', '1e9', String(Math.floor(Date.now() / 1_000) + 9)])
          assert.equal(
            await statusOf(receiver, text, { ...aged(0), 'webhook-timestamp': timestamp }),
            401,
            timestamp,
          );
      });
    },
  );
}
