import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { temporal as proto } from '@temporalio/proto';
import { SIGNALS, transferWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import {
  detailsOf,
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../support/temporal.js';
import { startTestWorker, type TestWorker } from '../support/temporal-worker.js';
import {
  actsOn,
  assertEnds,
  dismiss,
  type GuardedBank,
  hire,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
  signatureOf,
} from '../support/temporal-world.js';
import type { Uuid } from '../../src/core/ids.js';

type Payload = proto.api.common.v1.IPayload;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Payloads that no converter of the service makes. */
const UNDECODABLE: Readonly<Record<string, readonly Payload[]>> = {
  'JSON that is none': [{ metadata: { encoding: bytes('json/plain') }, data: bytes('{"actor":') }],
  'an unknown encoding': [
    { metadata: { encoding: bytes('text/x-unknown') }, data: bytes('actor=ana') },
  ],
  'no encoding': [{ data: bytes('{"actor":"ana"}') }],
  'no metadata and no data': [{}],
  'protobuf as JSON without its type': [
    { metadata: { encoding: bytes('json/protobuf') }, data: bytes('{}') },
  ],
  'protobuf of an unknown type': [
    {
      metadata: { encoding: bytes('binary/protobuf'), messageType: bytes('no.such.Type') },
      data: bytes('\u0001'),
    },
  ],
  'encrypted for somebody else': [
    { metadata: { encoding: bytes('binary/encrypted') }, data: bytes('nothing') },
  ],
};

const db = await testDatabase();
const temporal = await testTemporal();

describe('a signal that is malformed, or from somebody without the right', () => {
  let worker: TestWorker;
  let api: TestApi;
  let guarded: GuardedBank;
  let active: string;

  before(async () => {
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    api = await startTestApi(db, temporalEnvironment(temporal));
    guarded = await openGuardedBank(api);
    active = (await hire(db.database)).name;
  });

  async function pending(): Promise<Uuid> {
    const id = await guarded.pend();
    await untilWaiting(temporal, id);
    return id;
  }

  /** So many refusals are in the audit log, and the last is in words in the details and in the query's answer. */
  async function assertRefused(
    id: Uuid,
    refusals: readonly string[],
    words: RegExp,
  ): Promise<void> {
    await until(`${refusals.length} refusals are recorded`, async () => {
      const acts = await actsOn(db, id);
      assert(acts.length <= refusals.length, JSON.stringify(acts));
      return acts.length === refusals.length;
    });
    const acts = await actsOn(db, id);
    assert.deepEqual(
      acts.map(({ action, channel }) => [action, channel]),
      refusals.map((action) => [`transfer.${action}_refused`, 'temporal']),
    );
    await until('the workflow has heard', async () =>
      words.test((await stateOf(temporal, id))?.lastRefusal ?? ''),
    );
    assert.match((await detailsOf(temporal, id)) ?? '', words);
    assert.match((await detailsOf(temporal, id)) ?? '', /^Waiting for 1 of 1 approval/);
    await assertEnds(db, new Map([[id, 'pending_approval']]));
  }

  /** It is not broken: the next signal that is right ends it. */
  async function assertStillWorks(id: Uuid): Promise<void> {
    await sendSignal(temporal, id, 'approve', await newSignature(db.database));
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
  }

  const nobody = /Refused at [-\d: ]{19} UTC: approve by nobody: no actor was named/;
  const noReason =
    /Refused at .* UTC: approve by Ana .*: no reason of 1 to 140 characters was given/;
  const malformed: Readonly<Record<string, { input: () => readonly unknown[]; words: RegExp }>> = {
    'no input': { input: () => [], words: nobody },
    null: { input: () => [null], words: nobody },
    'a text': { input: () => ['approve it please'], words: nobody },
    'a number': { input: () => [42], words: nobody },
    'a list': { input: () => [[active, REASON]], words: nobody },
    bytes: { input: () => [bytes('actor')], words: nobody },
    'an actor that is no text': {
      input: () => [{ actor: { name: active }, reason: REASON }],
      words: nobody,
    },
    'an empty actor': { input: () => [{ actor: '', reason: REASON }], words: /no actor was named/ },
    'an actor of spaces': {
      input: () => [{ actor: '   ', reason: REASON }],
      words: /no actor was named/,
    },
    'an actor of a million letters': {
      input: () => [{ actor: 'x'.repeat(1_000_000), reason: REASON }],
      words: nobody,
    },
    'control characters for a name': {
      input: () => [{ actor: 'Ana\u0000', reason: REASON }],
      words: /no actor was named/,
    },
    'a character that turns what follows in a name': {
      input: () => [{ actor: 'Ana\u202e', reason: REASON }],
      words: /no actor was named/,
    },
    'a character of no width in a reason': {
      input: () => [{ actor: active, reason: 'go\u200bod' }],
      words: noReason,
    },
    'half a character for a name': {
      input: () => [{ actor: '\ud800', reason: REASON }],
      words: /no actor was named/,
    },
    'no reason': { input: () => [{ actor: active }], words: noReason },
    'an empty reason': { input: () => [{ actor: active, reason: '' }], words: noReason },
    'a reason that is no text': { input: () => [{ actor: active, reason: 7 }], words: noReason },
    'a reason of 141 characters': {
      input: () => [{ actor: active, reason: 'x'.repeat(141) }],
      words: noReason,
    },
    'a reason of a million letters': {
      input: () => [{ actor: active, reason: 'x'.repeat(1e6) }],
      words: noReason,
    },
    'somebody whom nobody knows': {
      input: () => [{ actor: 'Mallory', reason: REASON }],
      words: /Mallory is not active staff/,
    },
    'a name that somebody would have': {
      input: () => [{ actor: `${active} too`, reason: REASON }],
      words: /Ana .* too is not active staff/,
    },
    'no code': { input: () => [{ actor: active, reason: REASON }], words: /no code was given/ },
    'a code that is no text': {
      input: () => [{ actor: active, reason: REASON, code: 123456 }],
      words: /no code was given/,
    },
    'an empty code': {
      input: () => [{ actor: active, reason: REASON, code: '' }],
      words: /no code was given/,
    },
    'a member of the tenant': {
      input: () => [{ actor: `member:${guarded.bank.tenant.owner.id}`, reason: REASON }],
      words: /member:.* is not active staff/,
    },
    'an attempt at SQL': {
      input: () => [{ actor: "' OR 1=1 -- ", reason: "'); --" }],
      words: /is not active staff/,
    },
  };

  for (const [what, { input, words }] of Object.entries(malformed))
    it(`a signal that is malformed, or from somebody without the right changes nothing and is recorded: ${what}`, async () => {
      const id = await pending();
      await sendSignal(temporal, id, 'approve', ...input());
      await assertRefused(id, ['approve'], words);
      await assertStillWorks(id);
    });

  it('a signal that is malformed, or from somebody without the right changes nothing when the staff member is no longer active, from that moment on', async () => {
    const gone = await hire(db.database);
    const id = await pending();
    await dismiss(db.database, gone);
    await sendSignal(temporal, id, 'approve', signatureOf(gone));
    await assertRefused(id, ['approve'], /is not active staff/);
    await assertStillWorks(id);
  });

  it('a signal that is malformed, or from somebody without the right changes nothing without the right to it: approving for approve and reject, cancelling for cancel', async () => {
    const [canceler, approver] = [
      await hire(db.database, ['cancel']),
      await hire(db.database, ['approve']),
    ];
    const id = await pending();
    await sendSignal(temporal, id, 'approve', signatureOf(canceler));
    await sendSignal(temporal, id, 'reject', signatureOf(canceler));
    await sendSignal(temporal, id, 'cancel', signatureOf(approver));
    await assertRefused(
      id,
      ['approve', 'reject', 'cancel'],
      /cancel by .* lacks the right to cancel/,
    );
    await assertStillWorks(id);
  });

  it('a signal that is malformed, or from somebody without the right does not keep a good one behind it from counting: of several at once, each is handled in order', async () => {
    const id = await pending();
    const bad = { actor: 'Mallory', reason: REASON };
    const good = await newSignature(db.database);
    await Promise.all([
      ...Array.from({ length: 9 }, () => sendSignal(temporal, id, 'cancel', bad)),
      sendSignal(temporal, id, 'reject', good),
    ]);
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'rejected']]));
    const acts = (await actsOn(db, id)).map(({ action }) => action);
    assert.deepEqual(
      acts.sort(),
      [...Array<string>(9).fill('transfer.cancel_refused'), 'transfer.reject'].sort(),
    );
  });

  it('a signal that is malformed, or from somebody without the right ends nothing twice: of contrary ones at once, one counts, and later ones are recorded as too late', async () => {
    const id = await pending();
    const signatures = [await newSignature(db.database), await newSignature(db.database)];
    const sent = await Promise.allSettled(
      (['reject', 'cancel'] as const).map((action, index) =>
        sendSignal(temporal, id, action, signatures[index]!),
      ),
    );
    // The first may have ended the workflow by the time the second arrives.
    for (const one of sent)
      if (one.status === 'rejected') assert(one.reason instanceof WorkflowNotFoundError);
    await untilEnded(temporal, id);
    const acts = (await actsOn(db, id)).map(({ action }) => action).sort();
    const won = acts.find((action) => !action.endsWith('_refused'))!;
    assert.deepEqual(
      acts.length === 2 ? acts.filter((action) => action.endsWith('_refused')).length : 1,
      1,
    );
    await assertEnds(db, new Map([[id, won === 'transfer.reject' ? 'rejected' : 'canceled']]));
  });

  it('a signal that is malformed, or from somebody without the right that has no handler is left alone', async () => {
    const id = await pending();
    await workflowOf(temporal, id).signal('expire', await newSignature(db.database));
    await assertStillWorks(id);
  });

  it('a signal that is malformed, or from somebody without the right changes nothing once the API has settled it, though the workflow has not heard yet', async () => {
    const id = await pending();
    // Nobody polls while both are decided.
    await worker.deps.workers.stop();
    answered(await guarded.act('cancel', id), 200);
    await sendSignal(temporal, id, 'approve', await newSignature(db.database));
    await worker.stop();
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'canceled']]));
    const acts = await actsOn(db, id);
    assert.deepEqual(acts.map(({ action }) => action).sort(), [
      'transfer.approve_refused',
      'transfer.cancel',
    ]);
  });

  for (const [what, payloads] of Object.entries(UNDECODABLE))
    it(`a signal that is malformed, or from somebody without the right changes nothing, is recorded and breaks nothing if it cannot be decoded: ${what}`, async () => {
      const id = await pending();
      await temporal.client.workflowService.signalWorkflowExecution({
        namespace: temporal.namespace,
        workflowExecution: { workflowId: transferWorkflowId(id) },
        signalName: SIGNALS.approve,
        input: { payloads: [...payloads] },
        identity: 'test',
      });
      await assertRefused(id, ['approve'], nobody);
      await assertStillWorks(id);
    });
});
