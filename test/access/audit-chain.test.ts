import assert from 'node:assert/strict';
import { addMember } from '../../src/members/members.js';
import { reserveAlias, unreserveAlias } from '../../src/accounts/alias.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { systemClock as clock } from '../../src/core/instant.js';
import { SYSTEM_CHAIN } from '../../src/db/audit-hash.js';
import { uuid } from '../../src/db/columns.js';
import { type ChainedAuditRow, chainedAuditLog } from '../../src/db/entities/identity.js';
import { verifyAuditLog } from '../../src/auditor/audit.js';
import { run } from '../ops/ops.js';
import { freshDatabase } from '../helpers/database.js';
import { assertLedgerSound, makeTenant, TEST_ACTOR } from '../helpers/world.js';

const adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';

/**
 * Statements for the administrator; `at` names an action of the tenant's chain by its number. Then what is found, in its order: the
 * check, and the number of the action.
 */
type Damage = readonly [
  name: string,
  sql: (at: (sequence: number) => string) => readonly string[],
  ...found: (readonly [check: string, sequence: number | null, message: RegExp])[],
];

const AGAIN =
  'INSERT INTO audit_log (id, tenant_id, at, channel, actor_claimed, action, subject_type, subject_id, details';
const COPIED = "tenant_id, at, channel, 'mallory', action, subject_type, subject_id, details";

/** A change of each column that the hash of an action covers. Its chain and number follow below. */
const CHANGES = [
  ['id', uuid.literal(newId())],
  ['at', 'at + INTERVAL 1 SECOND'],
  ['channel', "'api'"],
  ['actor_claimed', "'mallory'"],
  ['action', "'member.none'"],
  ['subject_type', "'account'"],
  ['subject_id', "'nobody'"],
  ['details', `'{"scopes":"all"}'`],
] as const;

const DAMAGES: readonly Damage[] = [
  ...CHANGES.map(([column, value]): Damage => [
    `an action with another ${column}`,
    (at) => [`UPDATE audit_log SET ${column}=${value} WHERE ${at(2)}`],
    ['audit_chain', 2, /not what was written/],
  ]),
  [
    'an action whose hash was made to fit it',
    (at) => [
      `UPDATE audit_log SET actor_claimed='mallory', hash=X'${'ab'.repeat(32)}' WHERE ${at(2)}`,
    ],
    ['audit_chain', 2, /not what was written/],
    ['audit_chain', 3, /does not follow/],
  ],
  [
    'a removed action',
    (at) => [`DELETE FROM audit_log WHERE ${at(2)}`],
    ['audit_chain', 3, /1 before it are missing/],
  ],
  [
    'a removed first action',
    (at) => [`DELETE FROM audit_log WHERE ${at(1)}`],
    ['audit_chain', 2, /1 before it are missing/],
  ],
  [
    'the last action cut off',
    (at) => [`DELETE FROM audit_log WHERE ${at(4)}`],
    ['audit_head', null, /last row, number 4, is missing/],
  ],
  [
    'two actions that changed places',
    (at) => [
      `UPDATE audit_log SET sequence=99 WHERE ${at(2)}`,
      `UPDATE audit_log SET sequence=2 WHERE ${at(3)}`,
      `UPDATE audit_log SET sequence=3 WHERE ${at(99)}`,
    ],
    ['audit_chain', 2, /does not follow/],
    ['audit_chain', 2, /not what was written/],
    ['audit_chain', 3, /does not follow/],
    ['audit_chain', 3, /not what was written/],
    ['audit_chain', 4, /does not follow/],
  ],
  [
    'an action inserted in between',
    (at) => [
      `UPDATE audit_log SET sequence=5 WHERE ${at(4)}`,
      `UPDATE audit_log SET sequence=4 WHERE ${at(3)}`,
      `${AGAIN}, chain_id, sequence, previous_hash, hash) SELECT ${uuid.literal(newId())}, ${COPIED}, chain_id, 3, hash,
       UNHEX(SHA2(id, 256)) FROM (SELECT * FROM audit_log WHERE ${at(2)}) copied`,
    ],
    ['audit_chain', 3, /not what was written/],
    ['audit_chain', 4, /does not follow/],
    ['audit_chain', 4, /not what was written/],
    ['audit_chain', 5, /not what was written/],
    ['audit_head', null, /last row, number 4, is missing/],
    ['audit_head', 5, /after the end/],
  ],
  [
    'an action inserted after the last',
    (at) => [
      `${AGAIN}, chain_id, sequence, previous_hash, hash) SELECT ${uuid.literal(newId())}, ${COPIED}, chain_id, 5, hash,
       UNHEX(SHA2(id, 256)) FROM (SELECT * FROM audit_log WHERE ${at(4)}) copied`,
    ],
    ['audit_chain', 5, /not what was written/],
    ['audit_head', 5, /after the end/],
  ],
];

const db = await freshDatabase(adminUrl, 'money_test_audit_chain');

describe('the chains of the audit log', () => {
  after(() => db.remove());

  const chainWhere = (chainId: string) => (sequence: number) =>
    `chain_id=X'${chainId.replaceAll('-', '')}' AND sequence=${sequence}`;

  /** A tenant whose chain has four rows: the tenant, its owner and two members. */
  async function chained(): Promise<Uuid> {
    const { id } = (await makeTenant(db.database)).tenant;
    const known = await acts(id);
    for (let count = known.length; count < 4; count += 1)
      await addMember(db.database, clock, id, `member ${count}`, TEST_ACTOR);
    return id;
  }

  const acts = (chainId: Uuid): Promise<ChainedAuditRow[]> =>
    db.database.reader.select(chainedAuditLog, { chainId }, { orderBy: ['sequence'] });

  it('each chain of the audit log is gapless, one for each tenant and one for the system, and each row has the hash of the previous one', async () => {
    const [one, other] = [await chained(), await chained()];
    await reserveAlias({ database: db.database, clock }, '$chained', TEST_ACTOR);
    await unreserveAlias({ database: db.database, clock }, '$chained', TEST_ACTOR);
    for (const chainId of [one, other, SYSTEM_CHAIN]) {
      const chain = await acts(chainId);
      assert.deepEqual(
        chain.map(({ sequence }) => sequence),
        chain.map((_, index) => BigInt(index + 1)),
      );
      chain
        .slice(1)
        .forEach((act, index) => assert.deepEqual(act.previousHash, chain[index]?.hash));
    }
    await assertLedgerSound(db.database);
  });

  it('stay gapless under concurrent actions in several tenants and of the system', async () => {
    const tenants = [await chained(), await chained()];
    await Promise.all(
      Array.from({ length: 60 }, (_, count) => {
        const tenantId = tenants[count % 3];
        if (tenantId === undefined)
          return reserveAlias({ database: db.database, clock }, `$many.${count}`, TEST_ACTOR);
        return addMember(db.database, clock, tenantId, `busy ${count}`, TEST_ACTOR);
      }),
    );
    assert.deepEqual((await acts(tenants[0]!)).length, 24);
    assert.deepEqual((await verifyAuditLog(db.database)).findings, []);
  });

  for (const [name, sql, ...found] of DAMAGES)
    it(`show ${name}`, async () => {
      const tenantId = await chained();
      const kept = await db.sql(
        `SELECT * FROM audit_log WHERE tenant_id=${uuid.literal(tenantId)}`,
      );
      assert.equal(kept.length, 4);
      for (const statement of sql(chainWhere(tenantId))) await db.change(statement);
      const { findings } = await verifyAuditLog(db.database, { tenantId });
      assert.deepEqual(
        findings.map(({ check, subject }) => [check, /number (\d+):/.exec(subject)?.[1] ?? null]),
        found.map(([check, sequence]) => [check, sequence === null ? null : String(sequence)]),
      );
      findings.forEach(({ message }, index) => assert.match(message, found[index]![2]));
      const others = (await verifyAuditLog(db.database)).findings.filter(
        (one) => !findings.some(isSame(one)),
      );
      assert.deepEqual(others, [], 'and nothing else is broken');
      await db.change(`DELETE FROM audit_log WHERE tenant_id=${uuid.literal(tenantId)}`);
      await db.change(`DELETE FROM audit_chains WHERE chain_id=${uuid.literal(tenantId)}`);
    });

  it('are verified by the command line, which shows the last action of each chain, or the place where it breaks', async () => {
    const tenantId = await chained();
    const ops = (...args: readonly string[]) =>
      run('src/ops/main.js', ['audit-log', '--verify', '--tenant', tenantId, ...args], {
        MYSQL_URL: db.url,
      });
    const whole = await ops('--json');
    assert.equal(whole.code, 0, whole.stderr);
    const last = (await acts(tenantId)).at(-1);
    assert.deepEqual(JSON.parse(whole.stdout), [
      { tenant: tenantId, rows: '4', hash: last?.hash.toString('hex') },
    ]);
    await db.change(
      `UPDATE audit_log SET details='{}', action='member.none' WHERE ${chainWhere(tenantId)(3)}`,
    );
    const broken = await ops();
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /number 3: member\.none .* it is not what was written/);
    assert.match(broken.stderr, /broken in 1 place/);
    await db.change(`DELETE FROM audit_log WHERE tenant_id=${uuid.literal(tenantId)}`);
    await db.change(`DELETE FROM audit_chains WHERE chain_id=${uuid.literal(tenantId)}`);
  });
});

const isSame =
  (one: { readonly subject: string }) =>
  (other: { readonly subject: string }): boolean =>
    one.subject === other.subject;
