import assert from 'node:assert/strict';
import type { Command } from 'commander';
import { ApiError, invalidField } from '../../src/core/errors.js';
import { CommitUnknown, DatabaseUnavailable } from '../../src/db/failures.js';
import { explain } from '../../src/ops/failures.js';
import * as inputs from '../../src/ops/inputs.js';
import { buildDevelopmentProgram } from '../../development/program.js';

/** Every command without commands of its own. */
function leaves(command: Command, path = ''): { path: string; command: Command }[] {
  const own = command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
  return command.commands.length === 0 ? [{ path: path.trim(), command }] : own;
}

describe('the help of the operators', () => {
  const commands = leaves(buildDevelopmentProgram());

  it('the help of the operators has a command for each thing that operators do', () =>
    assert.deepEqual(
      commands.map(({ path }) => path).sort(),
      [
        ...[
          'add',
          'list',
          'show',
          'set-fee-account',
          'quotas',
          'recipient-budget',
          'policy-delay',
        ].map((name) => `tenants ${name}`),
        ...['add', 'grant', 'remove-role', 'list'].map((name) => `members ${name}`),
        ...['issue', 'list', 'revoke', 'rotate'].map((name) => `tokens ${name}`),
        ...['open', 'import', 'list', 'show', 'verify', 'set-alias', 'release-alias'].map(
          (name) => `accounts ${name}`,
        ),
        ...['freeze', 'unfreeze', 'close'].map((name) => `accounts ${name}`),
        'payins record',
        ...['propose', 'approve', 'reject', 'list'].map((name) => `adjustments ${name}`),
        ...['list', 'show', 'pause', 'resume', 'cancel', 'remove-uploads'].map(
          (name) => `batches ${name}`,
        ),
        ...['set', 'list', 'remove', 'refund'].map((name) => `fees ${name}`),
        ...['begin', 'finish', 'status', 'findings'].map((name) => `restore ${name}`),
        'backup mark',
        ...['show', 'set', 'clear'].map((name) => `limits ${name}`),
        ...['set', 'list', 'remove'].map((name) => `policies ${name}`),
        ...['list', 'show', 'approve', 'reject', 'cancel'].map((name) => `transfers ${name}`),
        ...[
          'add',
          'add-service',
          'list',
          'deactivate',
          'reset-factor',
          'sessions',
          'revoke-session',
          'unbind',
        ].map((name) => `staff ${name}`),
        ...['status', 'list', 'release', 'rebuild'].map((name) => `outbox ${name}`),
        'sweeps list',
        ...['list', 'acknowledge'].map((name) => `findings ${name}`),
        ...[
          'list',
          'show',
          'stuck',
          'approve',
          'reject',
          'cancel',
          'retry',
          'resolve',
          'reconcile',
        ].map((name) => `payouts ${name}`),
        ...['list', 'simulate', 'statement', 'check'].map((name) => `rails ${name}`),
        ...['reserve', 'unreserve', 'list'].map((name) => `aliases ${name}`),
        ...[
          'list',
          'show',
          'deliveries',
          'recover',
          'pause',
          'resume',
          'retry-now',
          'enable',
          'disable',
        ].map((name) => `webhooks ${name}`),
        ...['show', 'set'].map((name) => `events retention ${name}`),
        ...['list', 'roll', 'rotate'].map((name) => `keys ${name}`),
        'accounts reset-clock',
        ...['login', 'logout', 'whoami'],
        'webhooks listen',
        ...['trial-balance', 'closing'].map((name) => `reports ${name}`),
        'completion',
        'open',
        'audit',
        'audit-log',
      ].sort(),
    ));

  for (const { path, command } of commands)
    it(`the help of the operators of ${path} shows an example of it`, () => {
      let shown = '';
      command.configureOutput({ writeOut: (text) => (shown += text) }).outputHelp();
      assert.match(shown, new RegExp(`Examples:\\n  \\$ npm run ops -- ${path}( |\\n)`));
    });
});

describe('what options hold', () => {
  for (const given of ['1.5', '-1', '1e3', ' 1', '01', '9223372036854775808', '', '١'])
    it(`${JSON.stringify(given)} is not an amount`, () =>
      assert.equal(inputs.raw.safeParse(given).success, false));

  it('an amount is read to its last digit', () =>
    assert.equal(inputs.raw.parse('9223372036854775807'), 9_223_372_036_854_775_807n));

  it('scopes are a list, or all', () => {
    assert.deepEqual(inputs.scopes.parse('transfers, read'), ['read', 'transfers']);
    assert.equal(inputs.scopes.parse('all').length, 6);
    for (const given of ['', 'read,write', 'all,read'])
      assert.equal(inputs.scopes.safeParse(given).success, false);
  });

  it('a limit is an amount or the word default', () => {
    assert.deepEqual(
      [inputs.rawOrDefault.parse('default'), inputs.rawOrDefault.parse('0')],
      [null, 0n],
    );
    for (const given of ['', 'none', '-1', '1.5'])
      assert.equal(inputs.rawOrDefault.safeParse(given).success, false);
  });

  it('a length of time is a number with its unit', () => {
    for (const [given, ms] of [
      ['0s', 0],
      ['15m', 900_000],
      ['24h', 86_400_000],
      ['90d', 7_776_000_000],
    ] as const)
      assert.equal(inputs.duration.parse(given), ms);
    for (const given of ['', '5', 'd', '91d', '-1h', '1w', '1.5h'])
      assert.equal(inputs.duration.safeParse(given).success, false);
  });

  it('a time to wait is within its bounds, with a unit or in seconds', () => {
    const seconds = inputs.seconds(60, 2_592_000);
    for (const [given, expected] of [
      ['60', 60],
      ['1m', 60],
      ['24h', 86_400],
      ['2592000', 2_592_000],
      ['30d', 2_592_000],
    ] as const)
      assert.equal(seconds.parse(given), expected);
    for (const given of ['', '0', '59', '59s', '2592001', '31d', '1.5h', '-60', 'soon', '1w'])
      assert.equal(seconds.safeParse(given).success, false, given);
  });

  it('a number is a plain one within its bounds', () => {
    const number = inputs.wholeNumber(1, 3);
    assert.deepEqual(
      ['1', '3'].map((given) => number.parse(given)),
      [1, 3],
    );
    for (const given of ['', '0', '4', '1.5', '-1', '1e0', ' 1', 'two'])
      assert.equal(number.safeParse(given).success, false, given);
  });

  it('what staff may do are rights, each once', () => {
    assert.deepEqual(inputs.staffRights.parse('cancel, approve,cancel'), ['approve', 'cancel']);
    for (const given of ['', 'all', 'approve,boss'])
      assert.equal(inputs.staffRights.safeParse(given).success, false);
  });

  it('grants are members with roles', () => {
    assert.deepEqual(inputs.grants.parse('ana=owner, a=b=viewer'), [
      { name: 'ana', role: 'owner' },
      { name: 'a=b', role: 'viewer' },
    ]);
    for (const given of ['ana', '=owner', 'ana=boss'])
      assert.equal(inputs.grants.safeParse(given).success, false);
  });
});

describe('what went wrong', () => {
  for (const [failure, line] of [
    [
      new ApiError(invalidField('name', 'too_long')),
      'name is not valid: it has more characters than the maximum (invalid_field)',
    ],
    [
      new DatabaseUnavailable('refused', {
        cause: new Error('connect ECONNREFUSED 127.0.0.1:3306'),
      }),
      'MySQL is unavailable: connect ECONNREFUSED 127.0.0.1:3306',
    ],
    [
      new CommitUnknown('no answer'),
      'the connection to MySQL was lost during the commit, so the change may or may not have happened: check before you repeat it',
    ],
    [new TypeError('x is not a function'), 'internal error: x is not a function'],
  ] as const)
    it(`an error of the operators' commands is one line: ${line.slice(0, 40)}`, () =>
      assert.equal(explain(failure), line));
});
