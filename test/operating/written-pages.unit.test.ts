import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { buildDevelopmentProgram } from '../../development/program.js';
import {
  QUERIES,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  transferWorkflowId,
} from '../../src/temporal/contracts.js';
import { anchorOf, filesUnder, headingsOf, PAGES, shellBlocks } from './pages.js';

const MAX_IMAGE_BYTES = 200_000;
/** Files that a run makes, and the repository does not hold. */
const MADE_BY_RUNNING = [
  'bench/results/',
  'bench/results/latest.md',
  'dist/',
  '.run/prove-runs.md',
];
const FOLDERS =
  'src|test|docs|scripts|migrations|workflows|activities|bench|tools|docker|dist|\\.ci';

const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8'))).scripts;
const services = z
  .object({ services: z.record(z.string(), z.unknown()) })
  .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true })).services;

/** The command that a line of the documentation calls, found as the program finds it. */
function find(command: Command, words: readonly string[]): Command {
  const [first = '', ...rest] = words;
  const child = command.commands.find((one) => one.name() === first);
  return child === undefined ? command : find(child, rest);
}

/** The calls of the operators' command line in a page, without what begins it. */
function opsCalls(page: string): string[] {
  const calls = readFileSync(page, 'utf8').matchAll(
    /(?:npm run ops --|run --rm ops) ([a-z][^`\n]*)/g,
  );
  return Array.from(calls, ([, call = '']) => call);
}

const program = buildDevelopmentProgram();

function assertOpsCall(call: string): void {
  const words = call.split(' ').map((word) => word.split('|')[0] ?? '');
  const command = find(program, words);
  assert.ok(command.commands.length === 0 || words.includes('--help'), `no command: ${call}`);
  const known = [
    '--help',
    ...[...command.options, ...program.options].map((option) => option.long),
  ];
  const given = call.match(/(?<= )--[a-z-]+/g) ?? [];
  const unknown = given.filter((option) => !known.includes(option));
  assert.deepEqual(unknown, [], call);
}

describe('the written pages', () => {
  for (const page of PAGES) {
    const text = readFileSync(page, 'utf8');

    it(`the page ${page} links to files and headings that exist, and to pictures that load fast`, () => {
      for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (link.startsWith('http')) continue;
        const [path = '', anchor] = link.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(file), `there is no ${file}`);
        if (anchor !== undefined)
          assert.ok(headingsOf(file).map(anchorOf).includes(anchor), `there is no ${link}`);
        if (file.endsWith('.png'))
          assert.ok(statSync(file).size <= MAX_IMAGE_BYTES, `${file} is too large`);
      }
    });

    it(`the page ${page} names files and folders of the repository that exist`, () => {
      for (const [, path = ''] of text.matchAll(
        new RegExp(`\`((?:${FOLDERS})/[^\`\\s:]*)\``, 'g'),
      )) {
        if (/[<*{…]/.test(path) || MADE_BY_RUNNING.some((made) => path.startsWith(made))) continue;
        assert.ok(existsSync(path), `there is no ${path}`);
      }
    });

    it(`the page ${page} names npm scripts, services and shell scripts that exist`, () => {
      for (const [, name = ''] of text.matchAll(/npm run ([a-z][a-z:]*)/g))
        assert.ok(name in scripts, `npm run ${name}`);
      for (const [, name = ''] of text.matchAll(/--rm ([a-z][a-z-]*)/g))
        assert.ok(name in services, name);
      for (const [, file = ''] of text.matchAll(/^sh (\S+)/gm)) assert.ok(existsSync(file), file);
    });

    it(`the page ${page} names commands and options of the command line that exist`, () => {
      for (const call of opsCalls(page))
        if (!call.startsWith('…') && !call.includes(' …')) assertOpsCall(call);
    });

    it(`the page ${page} has shell blocks that a shell can parse`, () => {
      for (const block of shellBlocks(page)) {
        const read = spawnSync('bash', ['-n'], { input: block, encoding: 'utf8' });
        assert.equal(read.status, 0, `${read.stderr}\n${block}`);
      }
    });
  }

  it('the tests find all written pages, with their commands', () => {
    assert.ok(PAGES.length > 30, PAGES.join(', '));
    assert.ok(PAGES.flatMap(opsCalls).length > 50);
  });

  it('each written page is linked from another', () => {
    const named = PAGES.flatMap((page) =>
      Array.from(readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)/g), ([, link = '']) =>
        join(dirname(page), link),
      ),
    );
    const alone = PAGES.filter(
      (page) => page !== 'README.md' && page.startsWith('docs/') && !named.includes(page),
    );
    assert.deepEqual(
      alone.filter((page) => page !== 'docs/README.md' && !MADE_BY_RUNNING.includes(page)),
      [],
    );
  });

  it('docs/proof.md states the promise and the code of each run, and names campaigns, tests and folders that exist', () => {
    const sources = [...filesUnder('test/prove'), ...filesUnder('test/campaigns')].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const page = readFileSync('docs/proof.md', 'utf8');
    const runs = Array.from(
      page.matchAll(/^\| (.*) \| ([a-z][a-z-]+) \| [\d–]+ \| (.*?) \| \d{4}-/gm),
      ([, promise = '', name = '', code = '']) => ({ promise, name, code }),
    );
    assert.ok(runs.length > 15);
    for (const { promise, name, code } of runs) {
      assert.ok(
        sources.some((source) => source.includes(`'${name}'`) || source.includes(`\n  ${name}: `)),
        `there is no campaign ${name}`,
      );
      assert.match(promise, /^[A-Z`].*\.$/, name);
      for (const path of code.replaceAll('`', '').split(' '))
        assert.ok(existsSync(path), `${name}: ${path}`);
    }
    for (const [path] of page.matchAll(/test\/[a-z0-9./-]+/g)) assert.ok(existsSync(path), path);
  });

  it('docs/runbooks/audit-finding.md says what each check of the audit means', () => {
    const text = readFileSync('docs/runbooks/audit-finding.md', 'utf8');
    const names = filesUnder('src/auditor').flatMap((file) => {
      const code = readFileSync(file, 'utf8');
      const tables = Array.from(
        code.matchAll(/reportAll\(([\s\S]*?)\}\);/g),
        ([, table = '']) => table,
      );
      return [
        ...code.matchAll(/(?:report\(\s*|check: )'([a-z_]+)'/g),
        ...tables.flatMap((table) => [...table.matchAll(/^ +([a-z_]+):/gm)]),
      ].map(([, name = '']) => name);
    });
    assert.ok(names.length > 40);
    for (const name of names) assert.ok(text.includes(`\`${name}\``), name);
  });

  it('docs/support.md uses the names of the contracts', () => {
    const text = readFileSync('docs/support.md', 'utf8');
    const { approve, reject, cancel } = SIGNALS;
    const names = [approve, reject, cancel].map((signal) => `\`${signal}\``);
    for (const name of [
      ...names,
      ...Object.values(SEARCH_ATTRIBUTES),
      transferWorkflowId('<id of the transfer>'),
    ])
      assert.ok(text.includes(name), name);
    assert.ok(text.includes(`--type ${QUERIES.state}`));
  });
});
