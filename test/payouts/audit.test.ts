import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { say, ScriptedRail } from './scripted-rail.js';
import { openPayoutBank, payoutBody, railsOf, resolve } from './support.js';
import { type Damages, damageTests } from '../auditor/damages.js';

interface Victims {
  readonly tenantId: Uuid;
  readonly open: Uuid;
  /** The rail has given no answer. */
  readonly silent: Uuid;
  readonly completed: Uuid;
  readonly failed: Uuid;
  /** The rail contradicts itself. */
  readonly raised: Uuid;
  /** The payout failed, and was paid all the same. */
  readonly paidAfterAll: Uuid;
  /** Two people completed it, and gave the money back after its rail had voided it. */
  readonly givenBack: Uuid;
  /** A payout whose key had changed its holder before it was sent. */
  readonly refused: Uuid;
}

const railEvent = (
  payoutId: Uuid,
  kind: string,
  word: string,
  effect: string,
  reference = "'R-1'",
): string =>
  `INSERT INTO payout_rail_events (id, payout_id, rail, kind, reported, effect, rail_reference, at)
   VALUES (${idLiteral(newId())}, ${idLiteral(payoutId)}, 'simulated', '${kind}', '${word}', '${effect}', ${reference},
     UTC_TIMESTAMP(3) + INTERVAL 1 SECOND)`;
/** A line in the statement of a day, loaded an hour ago, and what the service recorded of it. */
const listed = (
  payoutId: Uuid,
  status: string,
  reference = "'R-1'",
  raw = LEAST,
  day = '2026-11-01',
): readonly string[] => {
  const statement = idLiteral(newId());
  const hourAgo = 'UTC_TIMESTAMP(3) - INTERVAL 1 HOUR';
  return [
    `INSERT INTO payout_statements (id, rail, day, version, line_count, digest, stored_at, stored_by, last_loaded_at)
     VALUES (${statement}, 'simulated', '${day}', 1, 1, REPEAT('d', 32), ${hourAgo}, 'test', ${hourAgo})`,
    `INSERT INTO payout_statement_lines (statement_id, number, rail, payout_key, status, raw, asset, reference)
     VALUES (${statement}, 2, 'simulated', ${idLiteral(payoutId)}, '${status}', ${raw}, 'COPM', ${reference})`,
  ];
};
const DAY_AGO = '-INTERVAL 1 DAY';
const voidOf = (payoutId: Uuid, set: string | null = null): string =>
  `${set === null ? 'FROM ' : ''}payout_rail_events ${set ?? ''} WHERE payout_id=${idLiteral(payoutId)} AND kind='void'`;
const change = (set: string, id: Uuid): string =>
  `UPDATE payouts SET ${set} WHERE id=${idLiteral(id)}`;

const DAMAGES: Damages<Victims> = {
  'a failed payout that a statement lists as paid, and that is not flagged': [
    ({ failed }) => listed(failed, 'completed'),
    ['payout_rail_word'],
  ],
  'a completed payout with another reference in a statement, and that is not flagged': [
    ({ completed }) => listed(completed, 'completed', "'R-2'"),
    ['payout_rail_word'],
  ],
  'a payout in progress whose outcome a statement lists, and that is not flagged': [
    ({ open }) => listed(open, 'completed', 'NULL'),
    ['payout_rail_word'],
  ],
  'a completed payout that a statement lists with another amount, and that is not flagged': [
    ({ completed }) => listed(completed, 'completed', "'R-1'", LEAST - 1n),
    ['payout_rail_word'],
  ],
  'a completed payout that statements of two days list, and that is not flagged': [
    ({ completed }) => [
      ...listed(completed, 'completed'),
      ...listed(completed, 'completed', "'R-1'", LEAST, '2026-11-02'),
    ],
    ['payout_rail_word'],
  ],
  'a payout whose money was given back after a statement had listed it as paid, even if it is raised since':
    [
      ({ failed }) => [
        change(
          "stuck_since=UTC_TIMESTAMP(3), stuck_reason='contradiction', ended_at=ended_at+INTERVAL 1 HOUR",
          failed,
        ),
        ...listed(failed, 'completed'),
        railEvent(failed, 'statement', 'completed', 'noted'),
      ],
      ['payout_rail_word'],
    ],
  'a failed payout that its rail reported as paid': [
    ({ failed }) => railEvent(failed, 'callback', 'completed', 'duplicate'),
    ['payout_rail_word'],
  ],
  'a failed payout that its rail accepted afterwards': [
    ({ failed }) => railEvent(failed, 'inquiry', 'accepted', 'duplicate'),
    ['payout_rail_word'],
  ],
  'a completed payout that the rail voided': [
    ({ completed }) => railEvent(completed, 'void', 'voided', 'applied', 'NULL'),
    ['payout_rail_word'],
  ],
  'a completed payout with another reference in a report of its rail': [
    ({ completed }) => railEvent(completed, 'inquiry', 'completed', 'noted', "'R-2'"),
    ['payout_rail_word'],
  ],
  'a payout in progress that its rail reported as failed': [
    ({ open }) => railEvent(open, 'submission', 'failed', 'noted'),
    ['payout_rail_word'],
  ],
  'money that two people gave back without a report of its rail': [
    ({ givenBack }) => `DELETE ${voidOf(givenBack)}`,
    ['payout_rail_word'],
  ],
  'money that two people gave back although its rail might pay it': [
    ({ givenBack }) => `UPDATE ${voidOf(givenBack, "SET reported='accepted'")}`,
    ['payout_rail_word'],
  ],
  'money that two people gave back after its rail had voided another reference': [
    ({ givenBack }) => `UPDATE ${voidOf(givenBack, "SET rail_reference='R-9'")}`,
    ['payout_rail_word'],
  ],
  'a payment that its rail reported after two people had given the money back, and that is not flagged':
    [
      ({ givenBack }) => railEvent(givenBack, 'inquiry', 'completed', 'duplicate'),
      ['payout_rail_word'],
    ],
  'a payment that its rail accepted after two people had given the money back, and that is not flagged':
    [
      ({ givenBack }) => railEvent(givenBack, 'inquiry', 'accepted', 'duplicate'),
      ['payout_rail_word'],
    ],
  'a payment that a statement listed after two people had given the money back, and that is not flagged':
    [
      ({ givenBack }) => [
        ...listed(givenBack, 'completed'),
        change(
          ['submitted', 'ended', 'returned'].map((of) => `${of}_at=${of}_at${DAY_AGO}`).join(),
          givenBack,
        ),
        `UPDATE payout_rail_events SET at=at${DAY_AGO} WHERE payout_id=${idLiteral(givenBack)}`,
        `UPDATE payout_resolutions SET decided_at=decided_at${DAY_AGO} WHERE payout_id=${idLiteral(givenBack)}`,
      ],
      ['payout_rail_word'],
    ],
  'a contradiction that is neither settled nor flagged': [
    ({ raised }) => change('stuck_since=NULL, stuck_reason=NULL', raised),
    ['payout_rail_word'],
  ],
  'a new report that contradicts what operators settled': [
    ({ paidAfterAll }) => railEvent(paidAfterAll, 'callback', 'voided', 'settled', 'NULL'),
    ['payout_rail_word'],
  ],
  'a failed payout with another amount than its event and its hold': [
    ({ failed }) => change('raw=raw+1', failed),
    ['event_body', 'event_body', 'operation_hold'],
  ],
  'a payout that was submitted to its rail without an answer, and has a state in which it can be canceled':
    [
      ({ silent }) =>
        change("status='approved', submitted_at=NULL, attempts=0, attempted_at=NULL", silent),
      ['payout_order'],
    ],
  'a completed payout without a report that it was paid': [
    ({ completed }) =>
      `DELETE FROM payout_rail_events WHERE payout_id=${idLiteral(completed)} AND effect<>'sent'`,
    ['payout_outcome'],
  ],
  'a payout that was refused for its holder although its rail may pay it': [
    ({ refused }) =>
      `INSERT INTO payout_rail_events (id, payout_id, rail, kind, effect, attempt, at)
       VALUES (${idLiteral(newId())}, ${idLiteral(refused)}, 'simulated', 'submission', 'sent', 1, UTC_TIMESTAMP(3))`,
    ['payout_order'],
  ],
  'an open payout without a destination': [
    ({ open }) => `DELETE FROM payout_secrets WHERE id=${idLiteral(open)}`,
    ['payout_destination'],
  ],
  'an open payout whose pay-out account belongs to no tenant': [
    ({ open }) => change(`system_account_id=${idLiteral(newId())}`, open),
    ['operation_account'],
  ],
  'a resolution that one person proposed and applied under two names': [
    ({ paidAfterAll }) =>
      `UPDATE payout_resolutions SET decided_by_id=proposed_by_id WHERE payout_id=${idLiteral(paidAfterAll)}`,
    ['operation_people'],
  ],
  'a payout that was paid after all without having failed': [
    ({ paidAfterAll }) => change('failed_at=NULL', paidAfterAll),
    ['operation_event'],
  ],
  'a payout that was paid after all with the status failed': [
    ({ paidAfterAll }) =>
      change(`failed_at=NULL, status='failed', failure_code='account_closed'`, paidAfterAll),
    ['month_total', 'operation_event', 'operation_posting'],
  ],
};

describe('the auditor, for payouts and messages of rails', () => {
  damageTests(DAMAGES, {
    name: 'payout_audit',
    makeVictims,
    // Looked for in all tenants at once.
    ofNoTenant: ['operation_people', 'payout_destination'],
  });
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  const api = await startTestApi(db);
  // Rows that disappear would close the ledger.
  api.core.rollbackGuard.stop();
  const own = await openPayoutBank(api);
  const make = async (...words: Parameters<typeof say>[]): Promise<Uuid> => {
    const id = await own.pay();
    const [first, ...others] = words;
    const { submissions, callbacks } = railsOf(db, { rail: new ScriptedRail(say(...first!)) });
    await submissions.submit(id);
    for (const [index, word] of others.entries())
      await callbacks.report('simulated', {
        key: id,
        ...say(...word),
        callbackId: `${id}.${index}`,
      });
    return id;
  };
  const paidAfterAll = await make(['failed', 'account_closed'], ['completed']);
  await resolve(railsOf(db), db, paidAfterAll, 'completed');
  const givenBack = await make(['accepted']);
  await resolve(railsOf(db), db, givenBack, 'completed');
  await resolve(railsOf(db, { rail: new ScriptedRail(say('voided')) }), db, givenBack, 'returned');
  const changing = { type: 'bre_b_key', key: '3001112209' };
  const seen = await own.bank.get(`/v1/payout_recipients?key=${changing.key}`);
  const destination = { ...changing, holder_check: text(answered(seen, 200).json.holder_check) };
  const order = { ...payoutBody({ from: own.source }), destination };
  const created = await own.bank.request('POST', '/v1/payouts', { body: order });
  const refused = asUuid(text(answered(created, 201).json.id));
  await railsOf(db).submissions.submit(refused);
  const silent = await own.pay();
  await railsOf(db, { rail: new ScriptedRail('silent') }).submissions.submit(silent);
  return {
    silent,
    tenantId: own.bank.tenant.tenant.id,
    open: await make(['accepted']),
    completed: await make(['completed'], ['accepted']),
    failed: await make(['failed', 'account_closed']),
    raised: await make(['completed'], ['failed', 'account_closed']),
    paidAfterAll,
    givenBack,
    refused,
  };
}
