import assert from 'node:assert/strict';
import type { Command } from 'commander';
import { type DeclaredNeeds, needsOf } from '../../src/ops/staff/authorisation.js';
import { buildProgram } from '../../src/ops/program.js';
import { STAFF_ACTIONS } from '../../src/staff/rules.js';
import { words } from './ops.js';

/** What each command asks for, written a second time. What is not here changes nothing. */
const NEEDS: Readonly<Record<string, Exclude<DeclaredNeeds, 'nothing'>>> = {
  login: 'own proof',
  logout: 'own proof',
  ...all('manage', 'tenants', words`add set-fee-account quotas recipient-budget policy-delay`),
  ...all('manage', 'members', ['add', 'grant', 'remove-role']),
  ...all('manage', 'tokens', ['issue', 'revoke', 'rotate']),
  ...all('manage', 'accounts', ['open', 'import', 'verify', 'set-alias', 'release-alias']),
  ...all('manage', 'accounts', ['freeze', 'unfreeze', 'close', 'reset-clock']),
  ...all('manage', 'aliases', ['reserve', 'unreserve']),
  ...all('manage', 'fees', ['set', 'remove']),
  ...all('manage', 'limits', ['set', 'clear']),
  ...all('manage', 'policies', ['set', 'remove']),
  ...all('manage', 'staff', ['add', 'add-service', 'deactivate', 'revoke-session', 'unbind']),
  ...all('manage', 'outbox', ['release', 'rebuild']),
  'findings acknowledge': ['manage'],
  'batches remove-uploads': ['manage'],
  'events retention set': ['manage'],
  'keys rotate': ['manage'],
  'payouts retry': ['resolve'],
  'payouts reconcile': ['resolve'],
  'payins record': ['payin.record'],
  'adjustments propose': ['adjustment.propose'],
  'adjustments approve': ['adjustment.approve'],
  'adjustments reject': ['adjustment.reject'],
  'transfers approve': ['transfer.approve'],
  'transfers reject': ['transfer.reject'],
  'transfers cancel': ['transfer.cancel'],
  'payouts approve': ['payout.approve'],
  'payouts reject': ['payout.reject'],
  'payouts cancel': ['payout.cancel'],
  'payouts resolve': ['payout.resolve_propose', 'payout.resolve_approve', 'payout.resolve_reject'],
  'batches pause': ['bonus_batch.pause'],
  'batches resume': ['bonus_batch.resume'],
  'batches cancel': ['bonus_batch.cancel'],
  'webhooks pause': ['webhook.pause'],
  'webhooks resume': ['webhook.resume'],
  'webhooks retry-now': ['webhook.retry_now'],
  'webhooks enable': ['webhook.enable'],
  'webhooks disable': ['webhook.disable'],
  'webhooks recover': ['webhook.recover'],
  'staff reset-factor': ['staff.reset_propose', 'staff.reset_approve', 'manage'],
  'restore begin': ['restore.begin'],
  'restore finish': ['restore.finish'],
  'fees refund': ['adjustment.propose', 'adjustment.approve'],
};

function all(
  right: 'manage',
  group: string,
  names: readonly string[],
): Record<string, readonly ['manage']> {
  return Object.fromEntries(names.map((name) => [`${group} ${name}`, [right]]));
}

function leaves(command: Command, path = ''): [string, Command][] {
  const own = command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
  return command.commands.length === 0 ? [[path.trim(), command]] : own;
}

describe('the rights of commands', () => {
  const commands = leaves(buildProgram());

  it('a command needs a right or a staff action if it changes something, and nothing if it only reads', () => {
    const found = commands.map(([path, command]) => [path, needsOf(command)] as const);
    assert.deepEqual(
      Object.fromEntries(found.filter(([, needs]) => needs !== 'nothing').sort()),
      Object.fromEntries(Object.entries(NEEDS).sort()),
    );
  });

  it('the command line can do every staff action', () => {
    const named = new Set(commands.flatMap(([, command]) => needsOf(command)));
    for (const act of Object.keys(STAFF_ACTIONS))
      assert.ok((named as ReadonlySet<unknown>).has(act), act);
  });
});
