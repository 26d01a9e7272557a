import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ofToday } from '../../scripts/docs/openapi/document.js';
import { makeTarget, type Target } from '../access/matrix-endpoints.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import { outputOf } from '../helpers/child-output.js';
import type { TestDatabase } from '../helpers/database.js';
import { importScript } from '../helpers/scripts.js';
import { assertLedgerSound } from '../helpers/world.js';

interface GeneratedCalls {
  readonly db: TestDatabase;
  /** The most for each operation and phase: fewer if no more calls differ. */
  readonly calls: number;
  /** The operations whose path matches; all unless said. */
  readonly paths?: string;
  readonly seed: number;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];
const SAID_CHARS = 8_000;
/** A header may be a word that the tool's own HTTP client uses: that call is never sent. */
const UNSENT = '\nurllib3.util.SKIP_HEADER only supports';
const MAX_RAW = 2n ** 63n - 1n;

/** The tool that scripts/lib/schemathesis.mjs finds or fetches; undefined with a message if it cannot be had. */
export async function schemathesis(): Promise<Program | undefined> {
  type Finder = { findSchemathesis(): Promise<Program | undefined> };
  const { findSchemathesis } = await importScript<Finder>('schemathesis.mjs');
  return findSchemathesis();
}

/**
 * Schemathesis makes calls up from the OpenAPI document, valid and invalid ones, many of them about things that are there. No answer
 * is a 5xx, each is one that the document describes, and the ledger is sound after all of them.
 */
export async function generatedCalls({ db, calls, paths, seed }: GeneratedCalls): Promise<string> {
  const program = await schemathesis();
  assert(program !== undefined, 'there is no Schemathesis');
  const api = await startTestApi(db);
  const folder = await mkdtemp(join(tmpdir(), 'generated-calls-'));
  try {
    const bank = await openBank(api);
    await writeFile(join(folder, 'schemathesis.toml'), knownValues(await makeTarget(bank)));
    const { text } = await api.request('GET', '/openapi.json');
    await writeFile(join(folder, 'openapi.json'), ofToday(text));
    const output = await summaryOf(program, folder, [
      ...['run', 'openapi.json', '--url', api.baseUrl],
      ...['--header', `Authorization: Bearer ${bank.token}`],
      ...[
        '--checks',
        CHECKS.join(','),
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        calls.toString(),
      ],
      ...[
        '--seed',
        seed.toString(),
        '--continue-on-failure',
        '--no-shrink',
        '--suppress-health-check',
        'all',
      ],
      ...['--warnings', 'off', ...(paths === undefined ? [] : ['--include-path-regex', paths])],
    ]);
    await assertLedgerSound(db.database);
    const [, operations = ''] = /Tested: (\d+)/.exec(output) ?? [];
    const [, made = ''] = /(\d+) generated/.exec(output) ?? [];
    assert(Number(operations) > 0 && Number(made) >= Number(operations), output);
    return `${operations} operations, ${made} generated calls (seed ${seed}): no 5xx, and every response as the OpenAPI document describes it`;
  } finally {
    await rm(folder, { recursive: true });
    await api.stop();
  }
}

/** Ids that exist, because calls with unknown ids all end alike. */
function knownValues(target: Target): string {
  const { account, other, renew: _, alias: __, ...things } = target;
  const accounts = [account.id, other.id];
  const dictionaries = {
    accounts,
    things: [...accounts, ...Object.values(things)],
    amounts: ['0', '1', LEAST.toString(), (MAX_RAW - 1n).toString(), MAX_RAW.toString()],
  };
  const from = (dictionary: keyof typeof dictionaries, probability: number): string =>
    `{ dictionary = "${dictionary}", probability = ${probability} }`;
  const parameters = {
    'path.account_id': from('accounts', 0.8),
    'path.id': from('things', 0.8),
    'path.batch_id': from('things', 0.8),
    'path.statement_id': from('things', 0.8),
    'path.request_id': from('things', 0.8),
    'query.source_account': from('accounts', 0.5),
    'body.source_account': from('accounts', 0.8),
    'body.destination.account_id': from('accounts', 0.8),
    'body.recipient.account_id': from('accounts', 0.8),
    'body.amount.raw': from('amounts', 0.5),
  };
  return [
    '[dictionaries]',
    ...Object.entries(dictionaries).map(
      ([name, values]) => `${name} = { values = ${JSON.stringify(values)} }`,
    ),
    '[parameters]',
    ...Object.entries(parameters).map(([name, value]) => `"${name}" = ${value}`),
    '',
  ].join('\n');
}

/** The summary if all checks hold. Throws what the tool found. */
async function summaryOf(
  { command, args, env }: Program,
  cwd: string,
  more: readonly string[],
): Promise<string> {
  const child = spawn(command, [...args, ...more], { cwd, env: { ...env, NO_COLOR: '1' } });
  const { code, stdout, stderr } = await outputOf(child);
  const output = stdout + stderr;
  const [, errors = ''] = output.split('\nErrors:');
  const count = [...errors.matchAll(/🚫 .*: (\d+)/g)].reduce(
    (sum, [, one]) => sum + Number(one),
    0,
  );
  const isUnsent =
    count > 0 && count === output.split(UNSENT).length - 1 && !output.includes('\nFailures:');
  assert(code === 0 || isUnsent, output.slice(-SAID_CHARS));
  return output;
}
