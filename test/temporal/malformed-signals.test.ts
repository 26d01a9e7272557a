import assert from 'node:assert/strict';
import type { temporal as proto } from '@temporalio/proto';
import { SIGNALS, transferWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import {
  detailsOf,
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  untilWaiting,
} from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import {
  actsOn,
  assertEnds,
  hire,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
} from '../helpers/temporal-world.js';
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

await startTestWorker(db, temporal, { environment: serving('approvals') });
const api = await startTestApi(db, temporalEnvironment(temporal));
const guarded = await openGuardedBank(api);
const active = (await hire(db.database)).name;

describe('a signal that is malformed or sent without the right', () => {
  async function pending(): Promise<Uuid> {
    const id = await guarded.createPending();
    await untilWaiting(temporal, id);
    return id;
  }

  /** Asserts the number of refusals in the audit log, and the words of the last one there and in the query's answer. */
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
    assert.match(await detailsOf(temporal, id), words);
    assert.match(await detailsOf(temporal, id), /^Waiting for 1 of 1 approval/);
    await assertEnds(db, new Map([[id, 'pending_approval']]));
  }

  /** The workflow still works: the next valid signal ends it. */
  async function assertStillWorks(id: Uuid): Promise<void> {
    await sendSignal(temporal, id, 'approve', await newSignature(db.database));
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
  }

  const nobody = /^no actor was named$/;
  const noReason = /^no reason of 1 to 140 characters was given$/;
  const noCode = /^no code was given as text, such as "492039"$/;
  const unknown = / is not active staff$/;
  const by = (actor: unknown, more: object = { reason: REASON }) => [{ actor, ...more }];
  /** The refusal of each. */
  const malformed = (): Readonly<Record<string, readonly [RegExp, readonly unknown[]]>> => ({
    'no input': [nobody, []],
    'a text': [nobody, ['approve it please']],
    'a list': [nobody, [[active, REASON]]],
    bytes: [nobody, [bytes('actor')]],
    'an actor that is no text': [nobody, by({ name: active })],
    'an actor of a million letters': [nobody, by('x'.repeat(1_000_000))],
    'control characters for a name': [nobody, by('Ana\u0000')],
    'no reason': [noReason, by(active, {})],
    'a reason that is no text': [noReason, by(active, { reason: 7 })],
    'a reason of a million letters': [noReason, by(active, { reason: 'x'.repeat(1e6) })],
    'no code': [noCode, by(active)],
    'a code that is a number': [noCode, by(active, { reason: REASON, code: 492_039 })],
    'a member of the tenant': [unknown, by(`member:${guarded.bank.tenant.owner.id}`)],
    'an attempt at SQL': [unknown, by("' OR 1=1 -- ", { reason: "'); --" })],
  });

  it('has no effect and is recorded', async () => {
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

  it('a signal that cannot be decoded has no effect, is recorded and does not fail the workflow', async () => {
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
