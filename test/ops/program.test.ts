import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { ApiError, ledgerUnavailable, notFound } from '../../src/core/errors.js';
import { CURRENT_VERSION } from '../../src/core/api-version.js';
import { CommitUnknown } from '../../src/db/failures.js';
import { completionScript } from '../../src/ops/commands/completion.js';
import {
  exitCodeOf,
  failureJson,
  OpsError,
  UnknownOutcome,
  UsageError,
} from '../../src/ops/failures.js';
import { Output } from '../../src/ops/output.js';
import { buildProgram } from '../../src/ops/program.js';
import { ROOT } from '../helpers/service-process.js';

const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));
const RUN_COMMAND = new URL('../../src/ops/program.js', import.meta.url).href;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const AN_ID = '0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10';

/** The exit code and output, in a process of its own. */
function ended(...args: readonly string[]): {
  readonly status: number | null;
  stdout: string;
  stderr: string;
} {
  const env = { PATH: process.env.PATH };
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', env });
}

describe('the exit code of a command', () => {
  for (const [failure, code] of [
    [new OpsError('no'), 1],
    [notFound(), 1],
    [new TypeError('a fault'), 1],
    [new UsageError('wrong'), 2],
    [new UnknownOutcome('who knows'), 3],
    [new CommitUnknown('no answer'), 3],
    [ledgerUnavailable(), 3],
  ] as const)
    it(`the exit code after ${failure.name}${failure instanceof ApiError ? ` ${failure.refusal.code}` : ''} is ${code}`, () =>
      assert.equal(exitCodeOf(failure), code));

  it('npm run ops also exits with 2 for wrong usage, which reports the wrong word and not the database', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts/ops.mjs'), 'acounts'],
      {
        encoding: 'utf8',
        env: { PATH: process.env.PATH },
      },
    );
    assert.deepEqual(
      [status, stderr],
      [
        2,
        "error: unknown command 'acounts'\n(Did you mean accounts?)\n(--help shows its commands and options)\n",
      ],
    );
  });

  it('npm run ops is one process, which takes no second start', () => {
    const started = "process.stderr.write('started\\n')";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(started)}`;
    const args = [join(ROOT, 'scripts/ops.mjs'), '--version'];
    const env = { PATH: process.env.PATH, NODE_OPTIONS };
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    assert.equal(stderr, 'started\n');
    assert.match(stdout, /^\S+ \(API /);
  });

  it('the exit codes of the command line are those of docs/operations/command-line.md: 0 for done, 1 for not done, 2 for wrong usage', () => {
    assert.equal(ended('--help').status, 0);
    assertRefused(1, 'tenants', 'list');
    assertRefused(2, 'tenants', 'no-such-command');
    assertRefused(2, 'tenants', 'add');
    assertRefused(2, 'completion', 'tcsh');
    const rows =
      /\| Code[\s\S]*?\n\n/.exec(readFileSync('docs/operations/command-line.md', 'utf8'))?.[0] ??
      '';
    assert.deepEqual(
      Array.from(rows.matchAll(/^\| `(\d)`/gm), ([, code]) => code),
      ['0', '1', '2', '3'],
    );
  });

  it('with --json an error is JSON on one line of standard error, and the exit code is the same', () => {
    for (const [line, code, name, message] of [
      ['tenants list', 1, 'not_done', /MYSQL_URL: is not set/],
      ['acounts', 2, 'wrong_usage', /^unknown command 'acounts' \(Did you mean accounts\?\)$/],
      ['tenants', 2, 'wrong_usage', /^a command is missing$/],
      ['tenants add', 2, 'wrong_usage', /^missing required argument 'name'$/],
      ['transfers list --status helt', 2, 'wrong_usage', /^--status: .* \(did you mean held\?\)$/],
    ] as const) {
      const { status, stdout, stderr } = ended(...line.split(' '), '--json');
      assert.deepEqual([status, stdout, stderr.split('\n').length], [code, '', 2], stderr);
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
      assert.equal(error.code, name);
      assert.match(error.message, message);
    }
    const { refusal } = notFound();
    assert.deepEqual(JSON.parse(failureJson(notFound())), { error: refusal });
  });

  it('a command exits with 3 and a reason if its output cannot be written', function () {
    if (!existsSync('/dev/full')) this.skip();
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `"$0" "$1" completion bash > /dev/full`, process.execPath, MAIN],
      {
        encoding: 'utf8',
      },
    );
    assert.match(stderr, /^error: the output could not be written \(ENOSPC\)/);
    assert.equal(status, 3);
  });

  /** Runs a command whose output is closed by `head` after the first line. */
  function endedByHead(action: string, redirection = ''): readonly [number | null, string] {
    const own = `
      import { Command } from 'commander';
      import { Output } from ${JSON.stringify(new URL('output.js', RUN_COMMAND).href)};
      import { runProgram } from ${JSON.stringify(RUN_COMMAND)};
      const program = new Command('ops');
      program.command('find').action(async () => {${action}});
      await runProgram(program);`;
    const pipe = `"$0" --input-type=module -e "$1" x find ${redirection} | head -n 1`;
    const args = ['-o', 'pipefail', '-c', pipe, process.execPath, own];
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
    return [status, stderr];
  }

  it('a command runs to its end with its own exit code even if its output is not read to the end', () => {
    const write = (to: string): string => `
      for (let at = 0; at < 20; at += 1) {
        process.${to}.write('a finding\\n'.repeat(10_000));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }`;
    const findings = `${write('stdout')} process.stderr.write('all is done'); process.exitCode = 1;`;
    assert.deepEqual(endedByHead(findings), [1, 'all is done']);
    const remarks = `${write('stderr')} process.exitCode = 3;`;
    assert.deepEqual(endedByHead(remarks, '2>&1'), [3, '']);
  });

  it('a list that is shown again and again ends with 0 if its output is closed', () => {
    const watch = `
      const output = new Output({ json: false, yes: false });
      await output.watch(async () => output.one({ id: 1 }));`;
    assert.deepEqual(endedByHead(watch), [0, '']);
  });

  it('a list that is shown again and again does not repeat that older lines follow', () => {
    const watch = `
      const output = new Output({ json: false, yes: false });
      await output.watch(async () => output.newest([{ id: 1 }, { id: 2 }], 1, 'none'));`;
    assert.deepEqual(endedByHead(watch), [0, '']);
  });

  /** A failure comes with a reason on standard error, and nothing on standard output. */
  function assertRefused(code: number, ...args: readonly string[]): void {
    const { status, stdout, stderr } = ended(...args);
    assert.deepEqual([status, stdout], [code, '']);
    assert.match(stderr, /^error: /);
  }
});

describe('the tables of the command line', () => {
  const rows = [
    { id: AN_ID, name: 'Acme Treasury', description: 'xxxxx '.repeat(10).trim() },
    { id: AN_ID, name: 'Ana', description: null },
  ];

  /** The output on a terminal of this width. */
  function printed(
    width: number | undefined,
    work: (output: Output) => void,
    options: { readonly csv?: boolean; readonly columns?: readonly string[] } = {},
  ): string {
    let text = '';
    const { write } = process.stdout;
    process.stdout.write = (piece: string | Uint8Array) => {
      text += String(piece);
      return true;
    };
    try {
      work(new Output({ json: false, yes: false, ...options }, width));
    } finally {
      process.stdout.write = write;
    }
    return text;
  }

  for (const width of [40, 60, 80, 120])
    it(`are at most ${width} columns wide on a terminal of ${width}, or as wide as a word`, () => {
      for (const text of [
        printed(width, (output) => output.list(rows, '', { isWhole: true })),
        printed(width, (output) => output.one(rows[0]!)),
      ]) {
        assert.ok(
          text.split('\n').every((line) => line.length <= width || /^.{13}\S+$/.test(line)),
          text,
        );
        assert.equal(text.split('xxxxx').length % 10, 1, 'no word is cut off or broken');
      }
    });

  it('keep an id in one piece, so that it can be copied, if nothing may be left out', () => {
    for (const width of [40, 60, 80])
      assert.match(
        printed(width, (output) => output.list(rows, '', { isWhole: true })),
        new RegExp(AN_ID),
      );
  });

  it('a table of the command line has one row per resource if it fits the terminal, or if the width is unknown', () => {
    for (const width of [200, undefined]) {
      const text = printed(width, (output) => output.list(rows, ''));
      assert.match(text.split('\n')[0] ?? '', /^id .* name .* description$/);
    }
  });

  it('have the beginnings of ids, which stay distinct, and times without their year or none, if the terminal is too narrow for more', () => {
    const year = new Date().getFullYear();
    const first = '0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f';
    const lines = [first, first.replace('7c3e', '7c3f'), first].map((id) => ({
      event_id: id,
      name: 'x'.repeat(20),
      created_at: `${year}-11-30T09:30:00.000Z`,
      expires_at: `${year - 1}-12-01T09:30:00.000Z`,
    }));
    const list = (output: Output): void => output.list(lines, '');
    const table = (width: number) => printed(width, list).trimEnd().split('\n');
    const short = /^0197f2c4-7a52-7c3[ef]  x{20}/;
    assert.match(printed(100, list), new RegExp(`\\n${first}  x`));
    for (const [width, heading] of [
      [80, /^event id +name +created at +expires at$/],
      [74, /^event id +name +created at +expires at$/],
      [60, /^event id +name +created at$/],
      [50, /^event id +name$/],
    ] as const) {
      const [head = '', ...rows] = table(width);
      assert.match(head, heading);
      assert.equal(new Set(rows).size, 2);
      for (const row of rows) assert.match(row, short);
    }
    assert.match(printed(30, list), new RegExp(`event id +${first.slice(0, 12)}`));
    assert.match(table(74)[1] ?? '', new RegExp(`  11-30 09:30Z  ${year - 1}-12-01 09:30Z$`));
    const columns = ['event_id', 'created_at', 'expires_at'];
    assert.match(printed(50, list, { columns }), /^event id +\S{36}\ncreated at/);
    for (const options of [{}, { csv: true }])
      assert.equal(printed(undefined, list, options).split(first).length, 3);
  });

  it('cut texts and leave out the last columns, and stay tables', () => {
    const amount = { raw: 1_000_000n, asset: 'COPM' } as const;
    const [to, details] = [`Luz ${'a'.repeat(50)} ****4099`, `because ${'b'.repeat(60)}`];
    const line = { id: AN_ID, status: 'pending_approval', amount, to, details, at: '09:30Z' };
    for (const [width, text] of [
      [
        110,
        /^id +status +amount +to +details +at\n\S{13}  pend.*  10,000\.00 COPM  Luz a+…\*{4}4099  because b+…  09:30Z\n$/,
      ],
      [100, /^id +status +amount +to +details\n\S{13}  pend.*  Luz a+…\*{4}4099  because b+…\n$/],
      [70, /^id +status +amount +to\n\S{13}  pend.*  Luz a{8}…\*{4}4099\n$/],
      [55, /^id +status +amount\n\S{13}  pending_approval  10,000\.00 COPM\n$/],
      [32, /^id +status\n\S{13}  pending_approval\n$/],
      [25, new RegExp(`^id +${AN_ID}\nstatus  `)],
    ] as const)
      assert.match(
        printed(width, (output) => output.list([line], '')),
        text,
      );
  });

  it('wrap the text that is their content', () => {
    const line = { row: '2', code: 'not_found', problem: `no account has ${'x'.repeat(30)} here` };
    const list = (output: Output): void => output.list([line], '', { wraps: 'problem' });
    assert.equal(
      printed(42, list),
      `row  code       problem\n2    not_found  no account has\n${' '.repeat(16)}${'x'.repeat(26)}\n${' '.repeat(16)}xxxx\n${' '.repeat(16)}here\n`,
    );
  });

  it('name the columns that they leave out, also when they are shown again and again', async () => {
    const said: string[] = [];
    class Shown extends Output {
      override say(text: string): void {
        said.push(text);
      }
    }
    const output = new Shown({ json: false, yes: false }, 60);
    const shown = output.watch(() => {
      output.list([{ id: AN_ID, status: 'pending_approval', to: 'x'.repeat(30) }], '');
      return Promise.reject(new Error('once'));
    });
    await assert.rejects(shown, /once/);
    assert.deepEqual(said, ['Not shown: to (wider terminal, or --json)']);
  });

  it('show recorded amounts as amounts', () => {
    const details = { asset: 'COPM', raw: '1000', reference: 'a-1' };
    const list = (output: Output): void => output.list([{ details }], '');
    assert.match(printed(undefined, list), /asset: COPM; amount: 10\.00 COPM; reference: a-1\n/);
  });

  it('have the chosen columns in their order, also those that are otherwise left out', () => {
    const list = (output: Output): void => output.list(rows, '', { detailsOnly: ['description'] });
    const columns = ['description', 'id'];
    assert.match(printed(undefined, list, { columns }), /^description +id\n[x ]+ +[0-9a-f-]+\n/);
    assert.match(
      printed(undefined, list, { columns, csv: true }),
      /description,id\r\n[x ]+,[0-9a-f-]+/,
    );
    assert.throws(
      () => printed(undefined, list, { columns: ['nam'] }),
      new UsageError('--columns: there is no nam, only id, name, description (did you mean name?)'),
    );
  });
});

describe('the completion of a shell', () => {
  const program = buildProgram();
  const bash = completionScript(program, 'bash');
  const zsh = completionScript(program, 'zsh');

  /** The completions that bash offers for the last of these words. */
  const offered = (...words: readonly string[]): string[] => offeredAfter('', ...words);

  function offeredAfter(definitions: string, ...words: readonly string[]): string[] {
    const script = `${definitions}${bash}
      COMP_WORDS=(money-ops ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
      _money_ops; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const shell = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      encoding: 'utf8',
    });
    assert.equal(shell.stderr, '');
    return shell.stdout.split('\n').filter((line) => line !== '');
  }

  it('shell completion offers every command and option at its place', () => {
    assert.deepEqual(offered('ten'), ['tenants']);
    assert.deepEqual(offered('tenants', 'add', '--net'), ['--network']);
    assert.deepEqual(offered('--json', 'tenants', 'pol'), ['policy-delay'], 'after an option');
    assert.deepEqual(offered('events', 'retention', 's'), ['show', 'set'], 'three words deep');
    assert.deepEqual(offered('tenants', 'add', 'tenants', '--no-such'), [], 'a name is no command');
    assert.deepEqual(offered('members', 'grant', 'ana', 'op'), ['operator'], 'an argument');
    const held = offered('transfers', 'list', '--status', 'h');
    assert.deepEqual(held, ['held'], 'the statuses of this list');
    assert.deepEqual(offered('staff', 'add', 'ana', '--can', 'man'), ['manage'], 'some of several');
    assert.deepEqual(offered('limits', 'set', 'x', '--asset', ''), ['COPM', 'DUSD']);
    const listed = `money-ops() { printf '[\n  {\n    "name": "acme",\n    "name": "Acme Two",\n'; }\n`;
    assert.deepEqual(offeredAfter(listed, 'transfers', 'list', '--tenant', 'Ac'), ['Acme\\ Two']);
    for (const before of ['tenants show', 'login', 'transfers list --as', 'audit-log --actor'])
      assert.deepEqual(offeredAfter(listed, ...before.split(' '), 'ac'), ['acme'], before);
    const aliases = `money-ops() { [[ "$*" == *'--tenant Acme Two'* ]] && echo '    "alias": "$ana",'; }\n`;
    const show = ['accounts', 'show', '--tenant', 'Acme\\ Two'];
    assert.deepEqual(offeredAfter(aliases, ...show, '$a'), ['\\$ana']);
    assert.deepEqual(offeredAfter(listed, 'accounts', 'show', '$a'), [], 'without its tenant');
    const several = offered('transfers', 'list', '--status', 'held,com');
    assert.deepEqual(several, ['held,completed'], 'one more of several');
    const columns = `money-ops() { [[ $* == 'transfers list --columns ?' ]] && echo 'error: --columns: there is no ?, only id, amount' >&2; }\n`;
    const chosen = offeredAfter(columns, 'transfers', 'list', '--columns', 'id,am');
    assert.deepEqual(chosen, ['id,amount']);
    assert.ok(offered('').length > 20);
    const visit = (command: Command, path: readonly string[]): void => {
      const own = offered(...path, '');
      for (const child of command.commands)
        assert.ok(own.includes(child.name()), [...path, child.name()].join(' '));
      for (const { long } of command.options)
        assert.ok(own.includes(long ?? ''), `${path.join(' ')} ${long}`);
    };
    visit(program, []);
    for (const child of program.commands.slice(0, 6)) visit(child, [child.name()]);
  });

  it('the completion for zsh is a valid script that describes each word', function () {
    assert.match(zsh, /^#compdef money-ops\n/);
    assert.match(zsh, /'\/tenants '\*\) found=\('add:/);
    if (spawnSync('zsh', ['--version']).error !== undefined) return this.skip();
    const script = `autoload -U compinit; compinit -D -u; ${zsh}; whence -w _money_ops`;
    const shell = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' });
    assert.deepEqual([shell.stderr, shell.stdout], ['', '_money_ops: function\n']);
  });
});

describe('the completion of fish', () => {
  const script = completionScript(buildProgram(), 'fish');

  it('the completion for fish describes each word, and its places are patterns in quotes', () => {
    assert.match(script, /^ {4}case '\/tenants \*'\n {6}printf '%s\\t%s\\n' 'add' '/m);
    assert.match(script, /case '\/transfers\/list --status'\n.* 'held' 'status'/);
    assert.match(script, /'a tenant\\'s members,/);
  });

  it('shell completion in fish offers the same words', function () {
    if (spawnSync('fish', ['--version']).error !== undefined) return this.skip();
    const offered = (line: string): string[] => {
      const own = `${script}complete -C ${JSON.stringify(`money-ops ${line}`)}`;
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', own], {
        encoding: 'utf8',
      });
      assert.equal(stderr, '');
      return stdout.split('\n').flatMap((one) => one.split('\t')[0] || []);
    };
    assert.deepEqual(offered('ten'), ['tenants']);
    assert.deepEqual(offered('--json tenants pol'), ['policy-delay']);
    assert.deepEqual(offered('events retention s').sort(), ['set', 'show']);
    assert.deepEqual(offered('transfers list --status h'), ['held']);
    assert.deepEqual(offered('limits set x --asset '), ['COPM', 'DUSD']);
  });
});

describe('the start of the command line', () => {
  it('the command line loads no package of Temporal, which would take longer than most commands', () => {
    const program = new URL('../../src/ops/program.js', import.meta.url).href;
    const script = `await import('${program}');
      const { createRequire } = await import('node:module');
      console.log(Object.keys(createRequire('/').cache).join('\\n'))`;
    const args = ['--input-type=module', '-e', script];
    const loaded = spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
    assert.match(loaded, /node_modules.mysql2/);
    assert.doesNotMatch(loaded, /@temporalio|protobufjs/);
  });
});

describe('money-ops as a package', () => {
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'package-'));
    const args = ['pack', '--ignore-scripts', '--pack-destination', folder, '--json'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 1 << 24 });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    execFileSync('tar', ['-xzf', join(folder, packed?.filename ?? ''), '-C', folder]);
    // As npm lays it out: the packages beside it, and a link to the program.
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'package/node_modules'));
    mkdirSync(join(folder, 'bin'));
    symlinkSync('../package/bin/money-ops.mjs', join(folder, 'bin/money-ops'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const called = (
    ...args: readonly string[]
  ): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(join(folder, 'bin/money-ops'), args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
      cwd: tmpdir(),
    });

  it('money-ops prints its version', () => {
    const { status, stdout } = called('--version');
    assert.deepEqual([status, stdout], [0, `${version} (API ${CURRENT_VERSION})\n`]);
  });

  it('uses its own name in its help, examples and notes', () => {
    const { stdout } = called('tenants', 'add', '--help');
    assert.match(stdout, /^Usage: money-ops tenants add /m);
    assert.match(stdout, /Examples:\n {2}\$ money-ops tenants add /);
    assert.doesNotMatch(called('--help').stdout, /npm run/);
  });

  it('the package money-ops contains what the service runs, and neither tests nor sources', () => {
    const files = execFileSync('find', ['.', '-type', 'f'], {
      cwd: join(folder, 'package'),
      encoding: 'utf8',
    });
    for (const file of [
      'dist/src/processes/api.js',
      'dist/src/processes/worker.js',
      'dist/workflow-bundle.cjs',
      'dist/site/webhooks.html',
      'dist/site/assets/minisearch.js',
      'docs/webhooks.md',
    ])
      assert.ok(files.includes(`./${file}\n`), file);
    assert.doesNotMatch(files, /\.\/(src|test|dist\/test|dist\/bench|docs\/images|docs\/site)\//);
  });
});
