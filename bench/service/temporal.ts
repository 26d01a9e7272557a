import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { WorkflowType } from '../../src/temporal/contracts.js';
import { RowFailed } from '../row-failed.js';
import { freePort } from './free-port.js';
import type { Environment } from './settings.js';

const LIMIT_MS = 60_000;
const POLL_MS = 50;

/** An unused namespace of the suite's Temporal server, without anything that other measurements left waiting. */
export class BenchTemporal {
  readonly namespace = `bench_${randomUUID().slice(0, 8)}`;
  private readonly client: Client;

  private constructor(readonly address: string) {
    this.client = new Client({
      connection: Connection.lazy({ address }),
      namespace: this.namespace,
    });
  }

  /** Resolves once it is usable. Throws RowFailed. */
  static async open(address: string): Promise<BenchTemporal> {
    const temporal = new BenchTemporal(address);
    await temporal.register();
    return temporal;
  }

  /** How many workflows of a type are running, as far as visibility has caught up. */
  async running(type: WorkflowType): Promise<number> {
    return (
      await this.client.workflow.count(`WorkflowType="${type}" AND ExecutionStatus="Running"`)
    ).count;
  }

  async close(): Promise<void> {
    await this.client.connection.close();
  }

  private async register(): Promise<void> {
    const { client, namespace } = this;
    await client.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The server's services load the new namespace at different times.
    for (const end = performance.now() + LIMIT_MS; !(await this.isUsable()); await sleep(POLL_MS))
      if (performance.now() > end)
        throw new RowFailed('the namespace at Temporal could not be used');
  }

  private async isUsable(): Promise<boolean> {
    try {
      await this.client.workflow.count('ExecutionStatus="Running"');
      await this.client.workflow.getHandle('none').describe();
    } catch (failure) {
      return failure instanceof Error && failure.name === 'WorkflowNotFoundError';
    }
    return true;
  }
}

/** An address at which no Temporal answers. */
export async function unreachableTemporal(): Promise<Environment['temporal']> {
  return { address: `127.0.0.1:${await freePort()}`, namespace: 'default' };
}
