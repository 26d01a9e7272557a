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
  type GuardedBank,
  hire,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
} from '../support/temporal-world.js';
import type { Uuid } from '../../src/core/ids.js';

type Payload = proto.api.common.v1.IPayload;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const payload = (encoding: string, data: string, more: object = {}): Payload => ({
  metadata: { encoding: bytes(encoding), ...more },
  data: bytes(data),
});
/** Payloads that no converter of the service makes. */
const UNDECODABLE: Readonly<Record<string, Payload>> = {
  'JSON that is none': payload('json/plain', '{"actor":'),
  'an unknown encoding': payload('text/x-unknown', 'actor=ana'),
  'no encoding': { data: bytes('{"actor":"ana"}') },
  'no metadata and no data': {},
  'protobuf as JSON without its type': payload('json/protobuf', '{}'),
  'protobuf of an unknown type': payload('binary/protobuf', '\u0001', {
    messageType: bytes('no.such.Type'),
  }),
  'encrypted for somebody else': payload('binary/encrypted', 'nothing'),
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

  const nobody = /^no actor was named$/;
  const noReason = /^no reason of 1 to 140 characters was given$/;
  const noCode = /^no code was given$/;
  const unknown = / is not active staff$/;
  const by = (actor: unknown, more: object = { reason: REASON }) => [{ actor, ...more }];
  /** What each is refused with. */
  const malformed = (): Readonly<Record<string, readonly [RegExp, readonly unknown[]]>> => ({
    'no input': [nobody, []],
    null: [nobody, [null]],
    'a text': [nobody, ['approve it please']],
    'a number': [nobody, [42]],
    'a list': [nobody, [[active, REASON]]],
    bytes: [nobody, [bytes('actor')]],
    'an actor that is no text': [nobody, by({ name: active })],
    'an empty actor': [nobody, by('')],
    'an actor of spaces': [nobody, by('   ')],
    'an actor of a million letters': [nobody, by('x'.repeat(1_000_000))],
    'an actor of 81 characters': [nobody, by('x'.repeat(81))],
    'control characters for a name': [nobody, by('Ana\u0000')],
    'a character that turns what follows in a name': [nobody, by('Ana\u202e')],
    'half a character for a name': [nobody, by('\ud800')],
    'no reason': [noReason, by(active, {})],
    'an empty reason': [noReason, by(active, { reason: '' })],
    'a reason that is no text': [noReason, by(active, { reason: 7 })],
    'a character of no width in a reason': [noReason, by(active, { reason: 'go\u200bod' })],
    'a reason of 141 characters': [noReason, by(active, { reason: 'x'.repeat(141) })],
    'a reason of a million letters': [noReason, by(active, { reason: 'x'.repeat(1e6) })],
    'no code': [noCode, by(active)],
    'a code that is no text': [noCode, by(active, { reason: REASON, code: 123456 })],
    'an empty code': [noCode, by(active, { reason: REASON, code: '' })],
    'somebody whom nobody knows': [unknown, by('Mallory')],
    'a name that somebody would have': [unknown, by(`${active} too`)],
    'a member of the tenant': [unknown, by(`member:${guarded.bank.tenant.owner.id}`)],
    'an attempt at SQL': [unknown, by("' OR 1=1 -- ", { reason: "'); --" })],
  });

  it('a signal that is malformed, or from somebody without the right changes nothing and is recorded, whatever it says', async () => {
    const id = await pending();
    const refusals: string[] = [];
    for (const [what, [words, input]] of Object.entries(malformed())) {
      await sendSignal(temporal, id, 'approve', ...input);
      refusals.push('approve');
      const last = await until(`${what} is recorded`, async () => {
        const acts = await actsOn(db, id);
        return acts.length === refusals.length && acts.at(-1);
      });
      assert.match(String((JSON.parse(last.details) as { refused?: string }).refused), words, what);
    }
    await assertRefused(
      id,
      refusals,
      /Refused at [-\d: ]{19} UTC: approve by .* is not active staff/,
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

  it('a signal that is malformed, or from somebody without the right changes nothing, is recorded and breaks nothing if it cannot be decoded', async () => {
    const id = await pending();
    for (const undecodable of Object.values(UNDECODABLE))
      await temporal.client.workflowService.signalWorkflowExecution({
        namespace: temporal.namespace,
        workflowExecution: { workflowId: transferWorkflowId(id) },
        signalName: SIGNALS.approve,
        input: { payloads: [undecodable] },
        identity: 'test',
      });
    const refusals = Object.keys(UNDECODABLE).map(() => 'approve');
    await assertRefused(id, refusals, /approve by nobody: no actor was named/);
    await assertStillWorks(id);
  });
});
