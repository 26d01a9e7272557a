import assert from 'node:assert/strict';
import { testDatabase } from '../helpers/database.js';
import { newNamespace, serving, sharedAddress } from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';

const db = await testDatabase();

describe('the worker', () => {
  it('registers missing search attributes, and leaves existing ones', async () => {
    const temporal = await newNamespace(sharedAddress(), 'fresh');
    const { operatorService } = temporal.client.connection;
    const known = async (): Promise<string[]> => {
      const { customAttributes } = await operatorService.listSearchAttributes({
        namespace: temporal.namespace,
      });
      return Object.keys(customAttributes).filter((name) =>
        /^(TenantId|ResourceId|AccountId|BusinessStatus|Amount)$/.test(name),
      );
    };
    assert.deepEqual(await known(), []);
    const worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    assert.deepEqual((await known()).sort(), [
      'AccountId',
      'Amount',
      'BusinessStatus',
      'ResourceId',
      'TenantId',
    ]);
    assert.deepEqual(await worker.core.client.registerSearchAttributes(), []);
    await worker.stop();
    await (await startTestWorker(db, temporal, { environment: serving('approvals') })).stop();
  });
});
