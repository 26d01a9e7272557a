import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { buildProgram } from '../../src/ops/program.js';
import { QUERIES, SEARCH_ATTRIBUTES, SIGNALS, transferWorkflowId } from '../../src/temporal/contracts.js';

const MOST_BYTES = 200_000;

/** The command that a line of the documentation calls, found as the program finds it. */
function find(command: Command, words: readonly string[]): Command {
  const [first = '', ...rest] = words;
  const child = command.commands.find((one) => one.name() === first);
  return child === undefined ? command : find(child, rest);
}

describe('what people read', () => {
  for (const page of ['README.md', 'docs/support.md', 'docs/security.md']) {
    const text = readFileSync(page, 'utf8');

    it(`${page} links to what is there, with pictures that load fast`, () => {
      const links = Array.from(text.matchAll(/\]\(([^)#]+)\)/g), ([, link = '']) => link).filter(
        (link) => !link.startsWith('http'),
      );
      assert.ok(links.length > 0);
      for (const link of links) {
        const file = join(dirname(page), link);
        assert.ok(existsSync(file), `there is no ${file}`);
        if (file.endsWith('.png')) assert.ok(statSync(file).size <= MOST_BYTES, `${file} is too large`);
      }
    });

    it(`${page} names commands and options that there are`, () => {
      const program = buildProgram();
      let seen = 0;
      for (const [, line = ''] of text.matchAll(/(?:npm run ops --|run --rm ops) ([a-z][^`\n]*)/g)) {
        if (line.includes('…')) continue;
        const words = line.split(' ').map((word) => word.split('|')[0] ?? '');
        const command = find(program, words);
        assert.ok(command.commands.length === 0 || words.includes('--help'), `no command: ${line}`);
        const known = ['--help', ...[...command.options, ...program.options].map((option) => option.long)];
        const given = line.match(/(?<= )--[a-z-]+/g) ?? [];
        assert.deepEqual(
          given.filter((option) => !known.includes(option)),
          [],
          line,
        );
        seen += 1;
      }
      assert.ok(seen > 3, `only ${seen} commands were found`);
    });
  }

  it('docs/support.md uses the names of the contracts', () => {
    const text = readFileSync('docs/support.md', 'utf8');
    const { approve, reject, cancel } = SIGNALS;
    const names = [approve, reject, cancel].map((signal) => `\`${signal}\``);
    for (const name of [...names, ...Object.values(SEARCH_ATTRIBUTES), transferWorkflowId('<id of the transfer>')])
      assert.ok(text.includes(name), name);
    assert.ok(text.includes(`--type ${QUERIES.state}`));
  });
});
